// Reads sound files into samples.
