"""The command `rope`: one file a subcommand."""
