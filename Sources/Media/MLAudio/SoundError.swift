/// Why a sound file cannot be read: the file, what is wrong with it and what to do.
package struct SoundError: Error, Sendable, CustomStringConvertible {
    package let path: String
    package let message: String

    package var description: String { "\(path): \(message)" }
}
