// Fits models of text.
