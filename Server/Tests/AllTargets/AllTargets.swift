// Nothing: this target exists for its dependencies, which Package.swift states.
