"""One thread inside an operation: on a busy machine, several wait for each other."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
