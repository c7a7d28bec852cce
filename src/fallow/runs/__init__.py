"""A run on disk: layout, writer, reader, tables, frames."""
