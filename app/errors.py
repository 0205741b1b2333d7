"""The one tree of errors; what each means and how it leaves over HTTP.

Owns the classes. Must not know Flask, SQLAlchemy or any provider: library exceptions are mapped
to these where the library is called, and only ``app.api.errors`` turns them into HTTP answers.

    CrystalError                      500 internal_error
    ├── RequestError                  400 bad_request
    │   ├── InvalidParameter          400 invalid_parameter
    │   ├── MissingQuery              400 missing_query
    │   ├── InvalidBody               400 invalid_body
    │   ├── InvalidRelation           400 invalid_relation
    │   ├── BodyTooLarge              413 body_too_large
    │   └── UnsupportedMediaType      415 unsupported_media_type
    ├── AccessError                   403 forbidden
    │   ├── MissingToken              401 missing_token
    │   ├── InsufficientScope         403 insufficient_scope
    │   ├── ForeignHost               403 foreign_host
    │   └── ForeignOrigin             403 foreign_origin
    ├── NotFound                      404 not_found
    │   ├── NoteNotFound              404 note_not_found
    │   │   └── UnknownReference      404 note_not_found
    │   ├── ConversationNotFound      404 conversation_not_found
    │   └── RelationNotFound          404 relation_not_found
    ├── MethodNotAllowed              405 method_not_allowed
    ├── TooManyRequests               429 too_many_requests
    ├── Conflict                      409 conflict
    │   ├── AmbiguousReference        409 ambiguous_reference
    │   ├── DuplicateRelation         409 duplicate_relation
    │   └── EditConflict              409 edit_conflict
    ├── Unavailable                   503 unavailable
    │   ├── DatabaseUnavailable       503 database_unavailable
    │   ├── SpaceMismatch             503 space_mismatch
    │   ├── NothingEmbedded           503 nothing_embedded
    │   └── ProviderError             503 provider_error
    │       ├── ProviderUnreachable   503 provider_unreachable
    │       ├── ProviderTimeout       503 provider_timeout
    │       ├── ProviderRejected      503 provider_rejected
    │       └── ProviderAnswerInvalid 503 provider_answer_invalid
    ├── BlankText                     400 blank_text
    ├── ConfigurationError            500 configuration_error
    ├── ExportFailed                  500 export_failed
    ├── ImportFailed                  400 import_failed
    └── CalibrationRefused            400 calibration_refused
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class CrystalError(Exception):
    """A fault of the server itself; also the base of all our errors, whose text is safe to show.

    ``details`` are what programs may want of it beside the sentence, as JSON values.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Something went wrong on our side"

    def __init__(self, message: str = "", details: Mapping[str, Any] | None = None) -> None:
        """Say what is wrong; without a message, what is always wrong with this class."""
        super().__init__(message or self.sentence)
        self.message = message or self.sentence
        self.details = details


class RequestError(CrystalError):
    """The request cannot be served as it was sent."""

    code, status = "bad_request", 400


class InvalidParameter(RequestError):
    """A parameter or body field has a value that it cannot have."""

    code = "invalid_parameter"

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f'Parameter "{parameter}" {problem}')
        self.parameter = parameter


class MissingQuery(RequestError):
    """A search without anything to search for."""

    code = "missing_query"
    sentence = 'Query parameter "q" is required'


class InvalidBody(RequestError):
    """The body is not the JSON object that the route takes."""

    code = "invalid_body"


class InvalidRelation(RequestError):
    """A relation that cannot be made between these notes."""

    code = "invalid_relation"


class BodyTooLarge(RequestError):
    """The body is larger than the server takes."""

    code, status = "body_too_large", 413


class UnsupportedMediaType(RequestError):
    """The body is of a type that the route does not read."""

    code, status = "unsupported_media_type", 415


class AccessError(CrystalError):
    """The caller may not do this."""

    code, status = "forbidden", 403


class MissingToken(AccessError):
    """The server wants an API token and got none, or another one."""

    code, status = "missing_token", 401
    sentence = 'An API token is required: send "Authorization: Bearer TOKEN"'


class InsufficientScope(AccessError):
    """The API token may read, and the request writes."""

    code = "insufficient_scope"
    sentence = "This API token may only read; use one with the scope write"


class ForeignHost(AccessError):
    """The Host header is not a name of this server (a guard against DNS rebinding)."""

    code = "foreign_host"


class ForeignOrigin(AccessError):
    """A page of another site made the request."""

    code = "foreign_origin"


class NotFound(CrystalError):
    """There is nothing at this address."""

    code, status = "not_found", 404


class NoteNotFound(NotFound):
    """No such note, or its conversation is gone."""

    code = "note_not_found"
    sentence = "Note not found"


class UnknownReference(NoteNotFound):
    """No note answers to a reference; the data list titles that are near."""


class ConversationNotFound(NotFound):
    """No such conversation."""

    code = "conversation_not_found"
    sentence = "Conversation not found"


class RelationNotFound(NotFound):
    """No such relation."""

    code = "relation_not_found"
    sentence = "Relation not found"


class MethodNotAllowed(CrystalError):
    """The address exists, the method does not."""

    code, status = "method_not_allowed", 405


class TooManyRequests(CrystalError):
    """The caller asks more often than server.requests_per_minute allows."""

    code, status = "too_many_requests", 429

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many requests: try again in {seconds} s")
        self.seconds = seconds


class Conflict(CrystalError):
    """The request does not fit the data as it is now."""

    code, status = "conflict", 409


class AmbiguousReference(Conflict):
    """A reference that several notes answer to; the data list them."""

    code = "ambiguous_reference"


class DuplicateRelation(Conflict):
    """The same relation between the same notes exists."""

    code = "duplicate_relation"


class EditConflict(Conflict):
    """The note changed while the edit was being prepared, more often than we retry."""

    code = "edit_conflict"


class Unavailable(CrystalError):
    """A part that the request needs does not work right now."""

    code, status = "unavailable", 503


class DatabaseUnavailable(Unavailable):
    """The database cannot be opened, is locked for too long, or is damaged."""

    code = "database_unavailable"


class SpaceMismatch(Unavailable):
    """Vectors of another embedding space would be compared."""

    code = "space_mismatch"


class NothingEmbedded(Unavailable):
    """There are notes, but none is embedded, so that nothing can be found by meaning."""

    code = "nothing_embedded"


class ProviderError(Unavailable):
    """The provider of embeddings, or the language model, failed."""

    code = "provider_error"


class ProviderUnreachable(ProviderError):
    """No connection to a provider."""

    code = "provider_unreachable"


class ProviderTimeout(ProviderError):
    """A provider did not answer in time."""

    code = "provider_timeout"


class ProviderRejected(ProviderError):
    """A provider answered with an error status."""

    code = "provider_rejected"


class ProviderAnswerInvalid(ProviderError):
    """A provider answered with something else than it was asked for."""

    code = "provider_answer_invalid"


class BlankText(CrystalError):
    """A text without a single visible character has no embedding."""

    code, status = "blank_text", 400


class ConfigurationError(CrystalError):
    """A setting, file or extra that the command needs is wrong or missing."""

    code = "configuration_error"


class ExportFailed(CrystalError):
    """The target of an export cannot be written, or holds what must not be overwritten."""

    code = "export_failed"


class ImportFailed(CrystalError):
    """The source of an import cannot be read."""

    code, status = "import_failed", 400


class CalibrationRefused(CrystalError):
    """The labelled queries or the space cannot be calibrated with."""

    code, status = "calibration_refused", 400
