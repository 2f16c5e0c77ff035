// Empty on purpose. Swift Testing declares an overlay of this name: the compiler imports it into every file that sees
// both `Testing` and a module named `CoreGraphics`, and refuses the file when there is none.
