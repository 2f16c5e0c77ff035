// Apple's framework: tasks, parameters, metrics, sessions.
