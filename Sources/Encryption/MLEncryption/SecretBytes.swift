import CSecrets
import Crypto
package import FoundationEssentials
import MLFiles
import MLNumerics

/// A key in memory that is kept out of core dumps, debuggers and swap files where the system can do so.
///
/// It is overwritten when it is released. `@unchecked Sendable`: the bytes are written once, before anybody else sees
/// them.
package final class SecretBytes: @unchecked Sendable {
    /// The number of bytes of a content key, a symmetric key, and the private half of a key pair.
    package static let keyByteCount = 32

    private let bytes: UnsafeMutableRawBufferPointer

    /// A secret of `byteCount` bytes that `fill` writes.
    package init<E: Error>(
        byteCount: Int = keyByteCount,
        fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        guard let address = csecrets_allocate() else { fatalError("no memory is left for a key") }
        precondition(byteCount <= CSECRETS_SLOT)
        bytes = UnsafeMutableRawBufferPointer(start: address, count: byteCount)
        do { try fill(bytes) } catch {
            csecrets_release(address)
            throw error
        }
    }

    /// A copy of `key`.
    convenience init(_ key: SymmetricKey) {
        self.init(byteCount: key.bitCount / 8) { key.copy(to: $0) }
    }

    /// A new random key.
    package static func random() -> SecretBytes { SecretBytes(SymmetricKey(size: .bits256)) }

    package var count: Int { bytes.count }

    /// Lends the bytes to `body`, which has to overwrite copies that it makes.
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(bytes))
    }

    /// The key in the form that the cryptography library takes, for a short time: its copy is overwritten when it is
    /// released.
    var symmetricKey: SymmetricKey { withBytes { SymmetricKey(data: $0) } }

    /// Whether two secrets are the same, in a time that does not depend on where they differ.
    package func equals(_ other: SecretBytes) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<count { difference |= bytes[index] ^ other.bytes[index] }
        return difference == 0
    }

    deinit {
        if let address = bytes.baseAddress { csecrets_release(address) }
    }
}

extension SymmetricKey {
    /// Copies the bytes.
    func copy(to destination: UnsafeMutableRawBufferPointer) { withUnsafeBytes { destination.copyBytes(from: $0) } }
}

extension SecretBytes {
    /// The key in `data`, whose bytes are overwritten.
    convenience init(erasing data: Data) throws(ModelError) {
        defer {
            data.withUnsafeBytes { bytes in
                if let address = bytes.baseAddress {
                    csecrets_erase(UnsafeMutableRawPointer(mutating: address), bytes.count)
                }
            }
        }
        guard data.count == SecretBytes.keyByteCount else {
            throw ModelError(.decryption, "A key has \(SecretBytes.keyByteCount) bytes, this one \(data.count).")
        }
        self.init { (bytes: UnsafeMutableRawBufferPointer) in data.withUnsafeBytes { bytes.copyMemory(from: $0) } }
    }
}

extension SecretBytes {
    /// A copy of a key that is in memory of another owner.
    package convenience init(_ data: Data) {
        precondition(data.count == SecretBytes.keyByteCount)
        self.init { (bytes: UnsafeMutableRawBufferPointer) in data.withUnsafeBytes { bytes.copyMemory(from: $0) } }
    }
}
