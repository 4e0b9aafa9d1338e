"""One bounded queue of child processes for all heavy work, and files that belong to one server."""
