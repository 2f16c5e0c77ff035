public import Foundation

/// The reason why an SFrame directory cannot be read.
public enum SFrameReadingError: Error, Sendable {
    /// The directory has no archive file `dir_archive.ini`.
    case missingArchive
    /// A file that describes the archive is damaged, or a file is missing.
    case badArchive(String)
    /// The archive holds another object or version, or has fewer rows than were requested.
    case unsupportedArchive(String)
    /// A column has a type, by Turi Create's number, that data frames do not hold, such as 8 for images.
    case unsupportedType(Int)
    /// The data is stored elsewhere or in a layout that is not supported.
    case unsupportedLayout(String)
    /// The data of a column is damaged.
    case badEncoding(String)
    /// The archive has no column of a requested name.
    case missingColumn(String)
}

extension SFrameReadingError: CustomStringConvertible, LocalizedError {
    /// A message that names the cause.
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

    /// The same text as `description`.
    public var errorDescription: String? { description }
}
