// Apple's framework, as far as models of text need it.
