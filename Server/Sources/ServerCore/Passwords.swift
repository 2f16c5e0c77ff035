import Crypto
import CryptoExtras
import Dispatch
import Foundation
import Synchronization

/// Hashes people's passwords with scrypt (RFC 7914).
///
/// Each hash takes 64 MiB and some tenths of a second, one after the other, so that nobody can exhaust the memory by
/// asking.
final class PasswordHasher: Sendable {
    /// 2^16 × 8 × 128 bytes, twice (OWASP's figures for passwords).
    private static let cost = (rounds: 1 << 16, blockSize: 8, parallelism: 2)
    /// The largest number of hashes that wait for their turn.
    private static let maximumQueueLength = 16

    private let queue = DispatchQueue(label: "passwords")
    private let waiting = Mutex(0)
    private let cost: (rounds: Int, blockSize: Int, parallelism: Int)

    /// Creates a hasher; a cheap one is for tests of other parts.
    init(isCheap: Bool = false) { cost = isCheap ? (1 << 4, 8, 1) : Self.cost }

    /// The text that is stored for a password.
    func text(of password: String) async throws -> String {
        let (cost, salt) = (cost, randomBytes(16))
        let hash = try await derive(password, salt: salt, cost)
        let parts = [String(cost.rounds), String(cost.blockSize), String(cost.parallelism)]
        return (["scrypt"] + parts + [salt.hexadecimal, hash.hexadecimal]).joined(separator: "$")
    }

    /// Whether a password is the one that `text` was stored for; takes as long when there is no text.
    func verify(_ password: String, _ text: String?) async throws -> Bool {
        let parts = (text ?? "").split(separator: "$").map(String.init)
        guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]), let blockSize = Int(parts[2]),
            let parallelism = Int(parts[3]), let salt = [UInt8](hexadecimal: parts[4]),
            let hash = [UInt8](hexadecimal: parts[5])
        else {
            _ = try await derive(password, salt: randomBytes(16), cost)
            return false
        }
        return isEqualInConstantTime(try await derive(password, salt: salt, (rounds, blockSize, parallelism)), hash)
    }

    private func derive(
        _ password: String,
        salt: [UInt8],
        _ cost: (rounds: Int, blockSize: Int, parallelism: Int)
    ) async throws -> [UInt8] {
        let isFull = waiting.withLock { count in
            if count >= Self.maximumQueueLength { return true }
            count += 1
            return false
        }
        guard !isFull else {
            throw ServiceError(.rateLimited, "Too many people are signing in: try again in 5 s.", retryAfter: 5)
        }
        defer { waiting.withLock { $0 -= 1 } }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        try KDF.Scrypt.deriveKey(
                            from: Data(password.utf8),
                            salt: Data(salt),
                            outputByteCount: 32,
                            rounds: cost.rounds,
                            blockSize: cost.blockSize,
                            parallelism: cost.parallelism,
                            maxMemory: 256 << 20
                        ).withUnsafeBytes { Array($0) }
                    }
                )
            }
        }
    }

    /// Throws when a password is too easy to guess.
    static func check(_ password: String, of email: String) throws(ServiceError) {
        guard password.unicodeScalars.count >= 12, password.utf8.count <= 256 else {
            throw .invalid("password", "A password has at least 12 characters and at most 256 bytes.")
        }
        let name = email.split(separator: "@").first.map(String.init) ?? email
        let isEasy =
            Set(password).count < 5 || password.lowercased().contains(email)
            || name.count >= 4 && password.lowercased().contains(name)
        guard !isEasy else {
            throw .invalid(
                "password",
                "This password is easy to guess: use several unrelated words."
            )
        }
    }
}

/// Codes of an authenticator app (RFC 6238): HMAC-SHA-1, six digits, 30 seconds.
public enum OneTimeCode {
    static let period = 30.0
    static let byteCount = 20
    /// The number of periods before and after the current one whose codes are accepted.
    static let tolerance = 1

    /// The period that a time lies in.
    static func step(at time: Date) -> Int { Int((time.timeIntervalSince1970 / period).rounded(.down)) }

    /// The code of a secret in a period (RFC 4226, section 5.3).
    public static func code(_ secret: [UInt8], step: Int, digits: Int = 6) -> String {
        let counter = withUnsafeBytes(of: UInt64(bitPattern: Int64(step)).bigEndian) { Data($0) }
        let key = SymmetricKey(data: secret)
        let code = Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: key))
        let offset = Int(code[19] & 15)
        let number = code[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        let modulus = (0..<digits).reduce(1) { product, _ in product * 10 }
        let text = String(number % modulus)
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// The period of a code; `nil` unless it is a current one and later than the last that was used.
    static func match(_ code: String, _ secret: [UInt8], at time: Date, after last: Int) -> Int? {
        let now = step(at: time)
        var found: Int?
        // All are compared, whichever fits.
        for step in now - tolerance...now + tolerance
        where isEqualInConstantTime(Array(self.code(secret, step: step).utf8), Array(code.utf8)) && step > last {
            found = step
        }
        return found
    }

    /// Bytes in Base32 (RFC 4648, section 6) without padding.
    public static func base32(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var (text, buffer, count) = ("", 0, 0)
        for byte in bytes {
            (buffer, count) = (buffer << 8 | Int(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(letters[buffer >> count & 31])
            }
            buffer &= (1 << count) - 1
        }
        if count > 0 { text.append(letters[buffer << (5 - count) & 31]) }
        return text
    }
}

/// Whether both are equal, in a time that does not depend on where they differ.
func isEqualInConstantTime(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
