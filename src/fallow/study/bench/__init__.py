"""The benchmark of policies and rules: frozen scenarios, the built-ins' results, and entrants compared with them."""
