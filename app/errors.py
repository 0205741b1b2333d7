"""The one tree of errors; what each means and how it leaves over HTTP.

Owns the error classes. Must not know Flask, SQLAlchemy or any provider: library exceptions
are mapped to these where the library is called, and only ``app.api.errors`` turns them into
HTTP answers.

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
    │   ├── ForeignHost               403 foreign_host
    │   └── ForeignOrigin             403 foreign_origin
    ├── NotFound                      404 not_found
    │   ├── NoteNotFound              404 note_not_found
    │   ├── ConversationNotFound      404 conversation_not_found
    │   └── RelationNotFound          404 relation_not_found
    ├── MethodNotAllowed              405 method_not_allowed
    ├── Conflict                      409 conflict
    │   ├── DuplicateRelation         409 duplicate_relation
    │   └── EditConflict              409 edit_conflict
    ├── Unavailable                   503 unavailable
    │   ├── DatabaseUnavailable       503 database_unavailable
    │   ├── SpaceMismatch             503 space_mismatch
    │   └── ProviderError             503 provider_error
    │       ├── ProviderUnreachable   503 provider_unreachable
    │       ├── ProviderTimeout       503 provider_timeout
    │       ├── ProviderRejected      503 provider_rejected
    │       └── ProviderAnswerInvalid 503 provider_answer_invalid
    ├── BlankText                     400 blank_text
    ├── ConfigurationError            500 configuration_error
    ├── ExportFailed                  500 export_failed
    └── ImportFailed                  400 import_failed
"""

from __future__ import annotations

from typing import ClassVar


class CrystalError(Exception):
    """Base of everything that this project raises on purpose; its text is safe to show."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(self, message: str = "Something went wrong on our side") -> None:
        super().__init__(message)
        self.message = message


class RequestError(CrystalError):
    """The request cannot be served as it was sent."""

    code = "bad_request"
    status = 400


class InvalidParameter(RequestError):
    """A parameter or body field has a value that it cannot have."""

    code = "invalid_parameter"

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f'Parameter "{parameter}" {problem}')
        self.parameter = parameter


class MissingQuery(RequestError):
    """A search without anything to search for."""

    code = "missing_query"

    def __init__(self) -> None:
        super().__init__('Query parameter "q" is required')


class InvalidBody(RequestError):
    """The body is not the JSON object that the route takes."""

    code = "invalid_body"


class InvalidRelation(RequestError):
    """A relation that cannot be made between these notes."""

    code = "invalid_relation"


class BodyTooLarge(RequestError):
    """The body is larger than the server takes."""

    code = "body_too_large"
    status = 413


class UnsupportedMediaType(RequestError):
    """The body is of a type that the route does not read."""

    code = "unsupported_media_type"
    status = 415


class AccessError(CrystalError):
    """The caller may not do this."""

    code = "forbidden"
    status = 403


class MissingToken(AccessError):
    """The server wants an API token and got none, or another one."""

    code = "missing_token"
    status = 401

    def __init__(self) -> None:
        super().__init__('An API token is required: send "Authorization: Bearer TOKEN"')


class ForeignHost(AccessError):
    """The Host header is not a name of this server (a guard against DNS rebinding)."""

    code = "foreign_host"


class ForeignOrigin(AccessError):
    """A page of another site made the request."""

    code = "foreign_origin"


class NotFound(CrystalError):
    """There is nothing at this address."""

    code = "not_found"
    status = 404


class NoteNotFound(NotFound):
    """No such note, or its conversation is gone."""

    code = "note_not_found"

    def __init__(self, message: str = "Note not found") -> None:
        super().__init__(message)


class ConversationNotFound(NotFound):
    """No such conversation."""

    code = "conversation_not_found"

    def __init__(self) -> None:
        super().__init__("Conversation not found")


class RelationNotFound(NotFound):
    """No such relation."""

    code = "relation_not_found"

    def __init__(self) -> None:
        super().__init__("Relation not found")


class MethodNotAllowed(CrystalError):
    """The address exists, the method does not."""

    code = "method_not_allowed"
    status = 405


class Conflict(CrystalError):
    """The request does not fit the data as it is now."""

    code = "conflict"
    status = 409


class DuplicateRelation(Conflict):
    """The same relation between the same notes exists."""

    code = "duplicate_relation"


class EditConflict(Conflict):
    """The note changed while the edit was being prepared, more often than we retry."""

    code = "edit_conflict"


class Unavailable(CrystalError):
    """A part that the request needs does not work right now."""

    code = "unavailable"
    status = 503


class DatabaseUnavailable(Unavailable):
    """The database cannot be opened, is locked for too long, or is damaged."""

    code = "database_unavailable"


class SpaceMismatch(Unavailable):
    """Vectors of another embedding space would be compared."""

    code = "space_mismatch"


class ProviderError(Unavailable):
    """The embedding provider failed."""

    code = "provider_error"


class ProviderUnreachable(ProviderError):
    """No connection to the embedding provider."""

    code = "provider_unreachable"


class ProviderTimeout(ProviderError):
    """The embedding provider did not answer in time."""

    code = "provider_timeout"


class ProviderRejected(ProviderError):
    """The embedding provider answered with an error status."""

    code = "provider_rejected"


class ProviderAnswerInvalid(ProviderError):
    """The embedding provider answered with something that is no list of vectors."""

    code = "provider_answer_invalid"


class BlankText(CrystalError):
    """A text without a single visible character has no embedding."""

    code = "blank_text"
    status = 400


class ConfigurationError(CrystalError):
    """A setting, file or extra that the command needs is wrong or missing."""

    code = "configuration_error"


class ExportFailed(CrystalError):
    """The target of an export cannot be written, or holds what must not be overwritten."""

    code = "export_failed"


class ImportFailed(CrystalError):
    """The source of an import cannot be read."""

    code = "import_failed"
    status = 400
