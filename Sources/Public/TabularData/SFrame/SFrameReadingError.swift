public import Foundation

/// Why a directory of Turi Create's is not read.
public enum SFrameReadingError: Error, Sendable {
    case missingArchive
    case badArchive(String)
    case unsupportedArchive(String)
    case unsupportedType(Int)
    case unsupportedLayout(String)
    case badEncoding(String)
    case missingColumn(String)
}

extension SFrameReadingError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .missingArchive: "the directory has no archive file 'dir_archive.ini'"
        case .badArchive(let reason): "the archive is damaged: \(reason)"
        case .unsupportedArchive(let reason): "the archive cannot be read: \(reason)"
        case .unsupportedType(let type): "the archive has a column of type \(type), which data frames do not hold"
        case .unsupportedLayout(let layout): "the archive's layout is not known: \(layout)"
        case .badEncoding(let reason): "the archive's encoding is damaged: \(reason)"
        case .missingColumn(let name): "the archive has no column '\(name)'"
        }
    }

    public var errorDescription: String? { description }
}
