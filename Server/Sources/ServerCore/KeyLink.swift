import Crypto
public import Foundation
import Glibc
import Synchronization

// The protocol between a deployment server and a separate key service (`Documentation/Formats/key-link.md`).

/// The secret of a deployment server and its key service: 32 random bytes in a file that nobody else can read.
public struct KeyLinkSecret: Sendable {
    static let byteCount = 32
    private let request: SymmetricKey
    private let answer: SymmetricKey

    init(bytes: [UInt8]) {
        func key(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes),
                info: Data("coreml key link 1 \(purpose)".utf8),
                outputByteCount: 32
            )
        }
        (request, answer) = (key("request"), key("answer"))
    }

    /// Reads the file that ``make(at:)`` wrote.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - credentials: the folder in which systemd provides the service's credentials, if it does.
    /// - Throws: a ``ServiceError`` when the file is not a secret, or others than its owner can read it.
    public init(
        contentsOf path: String,
        credentials: String? = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
    ) throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue,
            let text = FileManager.default.contents(atPath: path)
        else { throw ServiceError(.notFound, "\(path) cannot be read: make it with coreml-server keys secret.") }
        // systemd lets a service read its credentials by an access list, which the mode shows as its group's rights.
        let isCredential = credentials.map { path.hasPrefix($0 + "/") } ?? false
        guard mode & (isCredential ? 0o037 : 0o077) == 0 else {
            throw ServiceError(.forbidden, "\(path) can be read by users other than its owner: chmod 600 \(path)")
        }
        let digits = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count == Self.byteCount else {
            throw ServiceError(.invalid, "\(path) does not contain a secret: 64 hexadecimal digits are expected.")
        }
        self.init(bytes: bytes)
    }

    /// Creates a new secret in a new file of mode 0600.
    ///
    /// Throws a ``ServiceError`` when the file exists or cannot be written.
    public static func make(at path: String) throws {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ServiceError(.conflict, "\(path): \(String(cString: strerror(errno)))") }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: Data((Secrets.make() + "\n").utf8))
        try handle.synchronize()
    }

    // MARK: Messages

    enum Direction: String { case request, answer }

    private func key(_ direction: Direction) -> SymmetricKey { direction == .request ? request : answer }

    /// The additional data of a message: its direction, the session of the service, and the request's number.
    private static func context(_ direction: Direction, _ head: KeyLinkHead) -> Data {
        Data("coreml key link 1 \(direction.rawValue)\0".utf8) + Data(head.session + head.number)
    }

    func seal(_ text: Data, _ direction: Direction, _ head: KeyLinkHead) throws -> [UInt8] {
        let box = try AES.GCM.seal(text, using: key(direction), authenticating: Self.context(direction, head))
        guard let sealed = box.combined else { preconditionFailure("a nonce has 12 bytes") }
        return Array(sealed)
    }

    /// Opens a message; `nil` when the other side has another secret, or the message was changed.
    func open(_ sealed: some Collection<UInt8>, _ direction: Direction, _ head: KeyLinkHead) -> Data? {
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed)) else { return nil }
        return try? AES.GCM.open(box, using: key(direction), authenticating: Self.context(direction, head))
    }
}

/// The part of a request that is not encrypted.
struct KeyLinkHead: Sendable {
    static let byteCount = 32
    /// The service's session, chosen when it starts: 16 bytes.
    let session: [UInt8]
    /// The request's number, chosen by the sender each time: 16 bytes.
    let number: [UInt8]
}

/// The encrypted part of a request.
struct KeyLinkRequest: Codable, Sendable {
    /// Seconds since 1970, by the sender's clock.
    let time: Double
    /// The name of who asked the deployment server, for the audit log.
    let actor: String
    let call: KeyCall
}

/// Accepts each request once: a recorded one is useless, even after a restart of the service.
final class KeyLinkGate: Sendable {
    /// The largest difference between the clocks of both sides, in seconds.
    static let tolerance = 120.0

    enum Refusal: Error {
        /// The service was restarted, or is another one: ask again with this session.
        case session([UInt8])
        case secret
        case clock
        case replayed
        case malformed
    }

    let session = randomBytes(16)
    private let secret: KeyLinkSecret
    private let seen = Mutex(SeenNumbers(lifetime: 2 * tolerance))

    init(secret: KeyLinkSecret) { self.secret = secret }

    /// The request in a message; `now` is in seconds since 1970.
    func open(_ message: [UInt8], at now: Double) throws(Refusal) -> (KeyLinkRequest, KeyLinkHead) {
        guard message.count > KeyLinkHead.byteCount else { throw .malformed }
        let head = KeyLinkHead(session: Array(message[..<16]), number: Array(message[16..<32]))
        guard head.session == session else { throw .session(session) }
        guard let text = secret.open(message[32...], .request, head) else { throw .secret }
        guard let request = try? JSONDecoder().decode(KeyLinkRequest.self, from: text) else { throw .malformed }
        guard abs(request.time - now) <= Self.tolerance else { throw .clock }
        guard seen.withLock({ $0.insert(head.number, at: now) }) else { throw .replayed }
        return (request, head)
    }

    func seal(_ answer: Data, _ head: KeyLinkHead) throws -> [UInt8] { try secret.seal(answer, .answer, head) }
}

/// The numbers of recent requests, each kept for its lifetime at least and twice as long at most.
///
/// Only accepted requests use memory.
private struct SeenNumbers {
    /// The lifetime in seconds.
    let lifetime: Double
    private var young: Set<[UInt8]> = []
    private var old: Set<[UInt8]> = []
    /// The time since which numbers are young.
    private var begin = -Double.infinity

    init(lifetime: Double) { self.lifetime = lifetime }

    /// Adds a number; false when it is already known.
    mutating func insert(_ number: [UInt8], at now: Double) -> Bool {
        if now - begin >= lifetime {
            old = now - begin >= 2 * lifetime ? [] : young
            (young, begin) = ([], now)
        }
        return !old.contains(number) && young.insert(number).inserted
    }
}

func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

extension [UInt8] {
    /// Creates bytes from pairs of lower-case hexadecimal digits; `nil` for any other text.
    init?(hexadecimal text: String) {
        let digits = Array<UInt8>(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x61...0x66: digit - 0x57
            default: nil
            }
        }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            append(high << 4 | low)
        }
    }
}
