public import Foundation
package import MLNumerics

/// An error of Create ML.
public enum MLCreateError: Error, Sendable {
    /// The job was cancelled.
    case cancelled
    /// A session was asked to continue with other data than it began with.
    case modifiedTrainingData
    /// An error of another kind; the reason describes it and, where possible, its remedy.
    case generic(reason: String)
    /// A session was asked to continue with another value of a parameter.
    case incompatibleParameters(parameter: String, originalValue: String, newValue: String)
    /// A file or folder could not be read or written.
    case io(reason: String)
    /// A column or value is of a type that the task cannot use.
    case type(reason: String)
}

extension MLCreateError: LocalizedError, CustomNSError, CustomStringConvertible, CustomDebugStringConvertible {
    /// The error domain, `MLCreateErrorDomain`.
    public static var errorDomain: String { MLCreateErrorDomain }

    /// The code in the error domain: 0 for `generic` to 5 for `incompatibleParameters`.
    public var errorCode: Int {
        switch self {
        case .generic: 0
        case .type: 1
        case .io: 2
        case .cancelled: 3
        case .modifiedTrainingData: 4
        case .incompatibleParameters: 5
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }

    /// The same text as `description`.
    public var failureReason: String? { description }

    /// The localized description and failure reason, both of which are `description`.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description]
    }

    /// A sentence that explains the error.
    public var description: String {
        switch self {
        case .cancelled: "Training was cancelled."
        case .modifiedTrainingData:
            "The training data are not those that the session was begun with; pass the same data, or another session "
                + "directory."
        case .generic(let reason), .io(let reason), .type(let reason): reason
        case .incompatibleParameters(let parameter, let originalValue, let newValue):
            "The session was begun with \(parameter) = \(originalValue), not \(newValue); pass the same value, or "
                + "another session directory."
        }
    }

    /// The description after the type's name.
    public var debugDescription: String { "MLCreateError: " + description }
}

extension MLCreateError {
    package init(_ error: ModelError) {
        switch error.code {
        case .io, .malformed: self = .io(reason: error.description)
        case .cancelled: self = .cancelled
        default: self = .generic(reason: error.description)
        }
    }

    /// The error that jobs fail with: errors of the modules below become `MLCreateError`s.
    package static func translated(_ error: any Error) -> any Error {
        switch error {
        case let error as ModelError: MLCreateError(error)
        case is CancellationError: MLCreateError.cancelled
        default: error
        }
    }

    /// Runs `body` and turns errors of the modules below into `MLCreateError`s.
    package static func translating<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw translated(error) }
    }
}
