public import Foundation

/// An error of a tokenizer or of question answering, which says what is wrong and what to do.
public struct QuestionAnsweringError: LocalizedError, CustomStringConvertible, Sendable {
    /// The message.
    public let description: String
    /// The message.
    public var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
