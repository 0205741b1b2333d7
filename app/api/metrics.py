"""Figures for Prometheus: requests, searches by stage, notes, index, queue, provider.

Owns their names. Nothing of a query or a note is in them: labels are routes, rankers and stages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, cast

from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from app.api.routing import Route
from app.api.services import Services
from app.db import spaces
from app.errors import DatabaseUnavailable

EXTENSION = "metrics"
MEDIA_TYPE = "text/plain"
NO_ROUTE = "none"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The figures of one process; safe among threads."""

    def __init__(self, services: Services) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "crystal_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "crystal_request_seconds",
            "Time until an answer was made.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "crystal_search_stage_seconds",
            "Time of each stage of a search.",
            ("ranker", "stage"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._registry.register(_State(services))

    def answered(self, response: Response, seconds: float) -> None:
        """Count a request; addresses that are no route are counted as one."""
        route = request.url_rule.rule if request.url_rule else NO_ROUTE
        self._requests.labels(request.method, route, str(response.status_code)).inc()
        self._seconds.labels(route).observe(seconds)

    def searched(self, ranker: str, milliseconds: Mapping[str, float]) -> None:
        """Count the stages of a search."""
        for stage, spent in milliseconds.items():
            self._stages.labels(ranker, stage).observe(spent / 1000)

    def text(self) -> bytes:
        """Return everything in the text form of Prometheus."""
        return generate_latest(self._registry)


class _State(Collector):
    """What the process holds at the moment of being asked."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        """Read counts from the database, the index and the queue."""
        try:
            with self._services.mirror.open() as (connection, view):
                yield _gauge("crystal_notes", "Notes by status of embedding.", "status",
                             spaces.status_counts(connection))  # fmt: skip
                vectors = {kind: index.count() for kind, index in view.vectors.items()}
                yield _gauge("crystal_index_vectors", "Vectors in memory.", "kind", vectors)
                yield GaugeMetricFamily(
                    "crystal_index_sequence", "Change that the index has seen last.",
                    value=view.state.sequence,
                )  # fmt: skip
            is_up = 1
        except DatabaseUnavailable:
            is_up = 0
        yield GaugeMetricFamily("crystal_database_up", "Whether it can be read.", value=is_up)
        health = self._services.active.current.embedder.health()
        yield GaugeMetricFamily(
            "crystal_provider_up", "Whether the embedding provider answered last.",
            value=int(health.is_up),
        )  # fmt: skip
        yield GaugeMetricFamily(
            "crystal_provider_failures", "Calls in a row that it failed.", value=health.failures
        )
        progress = self._services.queue.progress()
        tasks = {name: progress.count(name) for name in ("queued", "running", "failed")}
        yield _gauge("crystal_queue_tasks", "Tasks of the queue.", "status", tasks)


def _gauge(name: str, help: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, help, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric([key], value)
    return family


def register(app: Flask, services: Services) -> None:
    """Count every request from now on."""
    found = Metrics(services)
    app.extensions[EXTENSION] = found

    @app.after_request
    def _count(response: Response) -> Response:
        found.answered(response, time.perf_counter() - g.started)
        return response


def metrics() -> Metrics:
    """Return the figures of the application behind the request at hand."""
    return cast("Metrics", current_app.extensions[EXTENSION])


def show_metrics() -> Any:
    """Return figures of this process in the text form of Prometheus."""
    return Response(metrics().text(), content_type=CONTENT_TYPE_LATEST)


ROUTES = (
    Route("GET", "/api/metrics", show_metrics, media_type=MEDIA_TYPE, is_enveloped=False),
)  # fmt: skip
