"""All threads of a batch of blocks in lockstep: control flow, values, calls, and one thread in a debugger."""
