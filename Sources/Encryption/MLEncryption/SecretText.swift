import CSecrets
import FoundationEssentials

/// A passphrase, which is overwritten when it is released.
///
/// `@unchecked Sendable`: the bytes do not change after initialisation.
package final class SecretText: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    package init(_ text: some Collection<UInt8>) {
        bytes = .allocate(byteCount: max(text.count, 1), alignment: 1)
        bytes.copyBytes(from: text)
        count = text.count
    }

    package let count: Int

    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }

    /// Whether two passphrases are the same.
    package func equals(_ other: SecretText) -> Bool {
        other.withBytes { theirs in withBytes { constantTimeEqual($0, theirs) } }
    }

    deinit {
        if let address = bytes.baseAddress { csecrets_erase(address, bytes.count) }
        bytes.deallocate()
    }
}
