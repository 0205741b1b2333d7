"""The database: models, sessions, and one module of queries per noun.

Owns every SQL statement. Returns domain values, never rows of SQLAlchemy; must not embed,
rank or know HTTP.
"""
