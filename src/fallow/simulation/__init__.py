"""The world slot by slot, its events and records, and the engine (Algorithm 1)."""
