import Foundation

/// An archive of the vectors of `Documentation/Formats/mlarchive.md`, which lie beside this package.
public enum SampleArchive {
    private struct Vectors: Decodable {
        struct Vector: Decodable {
            let name: String
            let valid: Bool
            let archive: [Part]
        }

        let vectors: [Vector]
    }

    /// Bytes in base64, or zeros.
    private enum Part: Decodable {
        case bytes([UInt8])
        case zeros(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let count = try? container.decode(Int.self) {
                self = .zeros(count)
                return
            }
            let text = try container.decode(String.self)
            guard let data = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no base64")
            }
            self = .bytes(Array(data))
        }
    }

    private static func data(_ name: String) throws -> Data {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return try Data(
            contentsOf: folder.appendingPathComponent("../../../Documentation/Formats/vectors/\(name).json")
        )
    }

    private struct Deltas: Decodable {
        struct Vector: Decodable {
            let name: String
            let delta: Data
        }

        let vectors: [Vector]
    }

    /// A delta of the vectors of `Documentation/Formats/mldelta.md`: `copies` makes the archive `small pieces` of `plain`.
    public static func delta(_ name: String) throws -> [UInt8] {
        let vectors = try JSONDecoder().decode(Deltas.self, from: data("mldelta"))
        guard let vector = vectors.vectors.first(where: { $0.name == name }) else { throw CocoaError(.fileNoSuchFile) }
        return Array(vector.delta)
    }

    /// The bytes of the archive that a published vector (`Documentation/Formats/vectors/mlarchive.json`) has under a name.
    public static func bytes(_ name: String) throws -> [UInt8] {
        let vectors = try JSONDecoder().decode(Vectors.self, from: data("mlarchive"))
        guard let vector = vectors.vectors.first(where: { $0.name == name }) else { throw CocoaError(.fileNoSuchFile) }
        return vector.archive.flatMap { part -> [UInt8] in
            switch part {
            case .bytes(let bytes): bytes
            case .zeros(let count): [UInt8](repeating: 0, count: count)
            }
        }
    }
}
