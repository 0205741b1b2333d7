# syntax=docker/dockerfile:1
# Build: docker build --tag chatcrystal-search .
# Run:   docker run --publish 127.0.0.1:3721:3721 --volume crystal:/data \
#          --env CRYSTAL_API_TOKEN=… chatcrystal-search
FROM python:3.13-slim AS build

WORKDIR /source
COPY . .
RUN python -m pip install --no-cache-dir "build>=1.2,<2" \
    && python -m build --wheel --outdir /wheels .

FROM python:3.13-slim

COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/*.whl \
    && rm -r /wheels \
    && useradd --create-home --uid 10001 crystal \
    && install --directory --owner=crystal --group=crystal --mode=0700 /data

USER 10001
VOLUME /data
EXPOSE 3721
ENV CRYSTAL_DATA_DIR=/data \
    CRYSTAL_HOST=0.0.0.0

HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:3721/api/health', timeout=4)"]

ENTRYPOINT ["crystal"]
CMD ["serve"]
