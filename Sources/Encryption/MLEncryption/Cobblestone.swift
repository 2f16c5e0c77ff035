import CSecrets
import Crypto
import Dispatch
import FoundationEssentials
import Glibc
import MLFiles
package import MLNumerics
import Synchronization

/// Cobblestone-256: chunked authenticated encryption of large messages, with SHA-512 and AES-256-GCM.
///
/// It is described at c2sp.org/chunked-encryption. A stored message is a random salt of 24 bytes, a commitment to the
/// key of 32 bytes, and the chunks: 16 KiB each, the last one shorter (it may be empty), each followed by a tag of 16
/// bytes.
package enum Cobblestone {
    package static let chunkByteCount = 16 << 10
    package static let saltByteCount = 24
    private static let commitmentByteCount = 32
    private static let nonceByteCount = 12
    private static let tagByteCount = 16
    /// The number of bytes before the first chunk: the salt and the commitment.
    package static let startByteCount = saltByteCount + commitmentByteCount
    private static let storedChunkByteCount = chunkByteCount + tagByteCount
    /// The number of chunks that are processed at once, which fit into a processor's cache.
    private static let slice = 16

    /// The stored length of a message of `count` bytes; `nil` for one that is too long.
    package static func storedByteCount(of count: Int) -> Int? {
        guard count >= 0, count <= 1 << 52 else { return nil }
        return startByteCount + count + (count / chunkByteCount + 1) * tagByteCount
    }

    /// The length of the message that is stored as `count` bytes; `nil` when there is none.
    package static func byteCount(ofStored count: Int) -> Int? {
        guard count >= startByteCount + tagByteCount, count <= 1 << 53 else { return nil }
        let chunks = (count - startByteCount) / storedChunkByteCount
        let remaining = (count - startByteCount) % storedChunkByteCount
        guard remaining >= tagByteCount else { return nil }
        return chunks * chunkByteCount + remaining - tagByteCount
    }

    // MARK: Keys

    /// The keys that a message is encrypted with.
    private struct MessageKey {
        let key: SymmetricKey
        let nonce: [UInt8]
        let commitment: [UInt8]

        init(_ secret: SecretBytes, salt: some Sequence<UInt8>, context: [UInt8]) {
            var info = Array("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM".utf8)
            info.append(0)
            info += salt
            info += context
            let derived = HKDF<SHA512>.expand(
                pseudoRandomKey: secret.symmetricKey,
                info: info,
                outputByteCount: SecretBytes.keyByteCount + nonceByteCount + commitmentByteCount
            )
            (key, nonce, commitment) = derived.withUnsafeBytes { bytes in
                let nonce = bytes[SecretBytes.keyByteCount...].prefix(nonceByteCount)
                return (
                    SymmetricKey(data: bytes[..<SecretBytes.keyByteCount]), Array(nonce),
                    Array(bytes[nonce.endIndex...])
                )
            }
        }

        /// The nonce of the chunk with the number `index`, which is less than 2^38.
        func nonce(_ index: Int) throws -> AES.GCM.Nonce {
            var nonce = nonce
            for byte in 0..<8 {
                nonce[nonceByteCount - 1 - byte] ^= UInt8(truncatingIfNeeded: index >> (8 * byte))
            }
            return try AES.GCM.Nonce(data: nonce)
        }
    }

    // MARK: Sealing

    /// Encrypts `message` and passes the stored bytes on, piece by piece.
    ///
    /// `context` says what the message is and where it belongs; opening needs the same. `salt` has 24 bytes that must
    /// never repeat with one key; it is random except for test vectors.
    package static func seal<E: Error>(
        _ message: UnsafeRawBufferPointer,
        key: SecretBytes,
        context: [UInt8],
        salt: [UInt8]? = nil,
        into take: (UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        let salt = salt ?? (0..<saltByteCount).map { _ in UInt8.random(in: .min ... .max) }
        precondition(salt.count == saltByteCount)
        let messageKey = MessageKey(key, salt: salt, context: context)
        var piece = salt + messageKey.commitment
        for index in 0...message.count / chunkByteCount {
            let chunk = UnsafeRawBufferPointer(rebasing: message[(index * chunkByteCount)...].prefix(chunkByteCount))
            do {
                let sealed = try AES.GCM.seal(chunk, using: messageKey.key, nonce: messageKey.nonce(index))
                piece += sealed.ciphertext
                piece += sealed.tag
            } catch { fatalError("AES-GCM refused to encrypt \(chunk.count) bytes: \(error)") }
            if piece.count >= slice * storedChunkByteCount {
                try hand(piece, take)
                piece.removeAll(keepingCapacity: true)
            }
        }
        try hand(piece, take)
    }

    private static func hand<E: Error>(
        _ piece: [UInt8],
        _ take: (UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        try piece.withUnsafeBufferPointer { (buffer) throws(E) in try take(UnsafeRawBufferPointer(buffer)) }
    }

    // MARK: Opening

    /// Decrypts a stored message into `destination`, which has room for exactly its bytes.
    ///
    /// `read` fills a buffer with stored bytes from an offset on, and is called from several threads. Throws
    /// `.decryption` when the key or the context is another, or a byte was changed, left out, added or moved; then
    /// nothing of `destination` may be used.
    package static func open(
        storedByteCount: Int,
        key: SecretBytes,
        context: [UInt8],
        into destination: UnsafeMutableRawBufferPointer,
        read: @Sendable (_ offset: Int, UnsafeMutableRawBufferPointer) throws(ModelError) -> Void
    ) throws(ModelError) {
        guard byteCount(ofStored: storedByteCount) == destination.count else {
            throw ModelError(.decryption, "The encrypted file was cut off or has something added; copy it again.")
        }
        var start = [UInt8](repeating: 0, count: startByteCount)
        try fill(&start) { (bytes) throws(ModelError) in try read(0, bytes) }
        let messageKey = MessageKey(key, salt: start[..<saltByteCount], context: context)
        guard constantTimeEqual(messageKey.commitment, start[saltByteCount...]) else {
            throw ModelError(
                .decryption,
                "The key is not the one that this file was encrypted with, or the file was replaced; "
                    + "restore the model, or get its key."
            )
        }
        try open(storedByteCount, messageKey, into: destination, read: read)
    }

    /// Decrypts all chunks, on as many processors as are worthwhile.
    private static func open(
        _ storedByteCount: Int,
        _ messageKey: MessageKey,
        into destination: UnsafeMutableRawBufferPointer,
        read: @Sendable (_ offset: Int, UnsafeMutableRawBufferPointer) throws(ModelError) -> Void
    ) throws(ModelError) {
        let chunkCount = destination.count / chunkByteCount + 1
        let sliceCount = (chunkCount + slice - 1) / slice
        let next = Atomic(0)
        let failure = Mutex<ModelError?>(nil)
        // Each slice writes its own chunks.
        nonisolated(unsafe) let destination = destination
        concurrently(min(sliceCount, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) {
            // One buffer for all slices: fresh memory would cost as much as decrypting.
            let stored = UnsafeMutableRawBufferPointer.allocate(
                byteCount: min(slice, chunkCount) * storedChunkByteCount,
                alignment: 64
            )
            defer {
                stored.deallocate()
                overwriteTraces()
            }
            while failure.withLock({ $0 == nil }) {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < sliceCount else { return }
                do throws(ModelError) {
                    let chunks = number * slice..<min((number + 1) * slice, chunkCount)
                    let offset = startByteCount + chunks.lowerBound * storedChunkByteCount
                    let end = min(startByteCount + chunks.upperBound * storedChunkByteCount, storedByteCount)
                    let piece = UnsafeMutableRawBufferPointer(rebasing: stored[..<(end - offset)])
                    try read(offset, piece)
                    try open(chunks, piece, messageKey, into: destination)
                } catch { failure.withLock { $0 = $0 ?? error } }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Decrypts some chunks, which are in `stored`.
    private static func open(
        _ chunks: Range<Int>,
        _ stored: UnsafeMutableRawBufferPointer,
        _ messageKey: MessageKey,
        into destination: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        for index in chunks {
            let chunk = stored[((index - chunks.lowerBound) * storedChunkByteCount)...].prefix(storedChunkByteCount)
            let text = UnsafeRawBufferPointer(rebasing: chunk.dropLast(tagByteCount))
            let tag = UnsafeRawBufferPointer(rebasing: chunk.suffix(tagByteCount))
            do {
                let box = try AES.GCM.SealedBox(nonce: messageKey.nonce(index), ciphertext: text, tag: tag)
                let plain = try AES.GCM.open(box, using: messageKey.key)
                plain.withUnsafeBytes { bytes in
                    let location = destination[(index * chunkByteCount)...].prefix(bytes.count)
                    UnsafeMutableRawBufferPointer(rebasing: location).copyMemory(from: bytes)
                    // Its owner frees this memory unchanged.
                    if let address = bytes.baseAddress {
                        csecrets_erase(UnsafeMutableRawPointer(mutating: address), bytes.count)
                    }
                }
            } catch {
                throw ModelError(
                    .decryption,
                    "The encrypted file is damaged or was changed (chunk \(index)); copy or compile the model again."
                )
            }
        }
    }

    /// Overwrites the traces of the cipher in freed memory, above all the expanded key.
    ///
    /// A key that is not secret is expanded: the next allocation of the same size on this thread gets the same memory.
    static func overwriteTraces() {
        let key = SymmetricKey(data: [UInt8](repeating: 0, count: SecretBytes.keyByteCount))
        for _ in 0..<2 { _ = try? AES.GCM.seal([UInt8](repeating: 0, count: chunkByteCount), using: key) }
    }

    /// Runs `body` `count` times concurrently.
    private static func concurrently(_ count: Int, _ body: @Sendable () -> Void) {
        guard count > 1 else { return body() }
        DispatchQueue.concurrentPerform(iterations: count) { _ in body() }
    }

    /// Decrypts a message that is in memory.
    package static func open(
        _ stored: [UInt8],
        key: SecretBytes,
        context: [UInt8]
    ) throws(ModelError) -> [UInt8] {
        guard let count = byteCount(ofStored: stored.count) else {
            throw ModelError(.decryption, "The encrypted text was cut off; copy it again.")
        }
        var result = [UInt8](repeating: 0, count: count)
        try fill(&result) { (bytes) throws(ModelError) in
            try open(storedByteCount: stored.count, key: key, context: context, into: bytes) { offset, piece in
                stored.withUnsafeBytes {
                    piece.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset...].prefix(piece.count)))
                }
            }
        }
        return result
    }
}

/// Lends the bytes of an array for writing.
func fill<R>(
    _ array: inout [UInt8],
    _ body: (UnsafeMutableRawBufferPointer) throws(ModelError) -> R
) throws(ModelError) -> R {
    try array.withUnsafeMutableBufferPointer { (buffer) throws(ModelError) in
        try body(UnsafeMutableRawBufferPointer(buffer))
    }
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
func constantTimeEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
