"""Runs the migrations over the connection that ``app.db.migrate`` hands in."""

from alembic import context

from app.db.models import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
