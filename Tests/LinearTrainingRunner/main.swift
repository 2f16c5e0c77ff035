// The runner of an oracle script.
