"""From how many bytes of q and k on the CPU's backend works in another way; loads nothing."""

SERIAL_BYTES = 2**17
"""Fewer are turned on the calling thread: waking the others takes longer."""
STREAM_BYTES = 2**24
"""From these on, results bypass the cache: they would not stay in it, and not reading them first saves a third of the
traffic."""
