"""What federated learning costs on this machine: seconds, bytes, and joules where they can be measured."""
