import Foundation
import MLFiles

/// Pictures of the progress, beside the checkpoints of their iterations.
extension SessionFolder {
    /// Writes a picture of the progress, a PNG file, under the name of its checkpoint.
    /// - Returns: The picture's file.
    func write(_ picture: [UInt8], of phase: MLPhase, iteration: Int) throws -> URL {
        try makeFolder(checkpointsURL)
        let file = checkpointsURL.appendingPathComponent(Self.name(phase, iteration) + Self.pictureExtension)
        try DurableFile.write(picture, to: file)
        return file
    }

    private static let pictureExtension = ".png"

    /// Removes a checkpoint, and the picture of its iteration if there is one.
    func remove(_ checkpoint: MLCheckpoint) throws {
        let picture = checkpoint.url.deletingPathExtension().path + Self.pictureExtension
        if FileManager.default.fileExists(atPath: picture) { try remove(URL(fileURLWithPath: picture)) }
        try remove(checkpoint.url)
    }
}
