// Does what a line on standard input says, with cryptography as the package uses it, and prints a line: for
// Oracles/encryption/check, which compares with Python. All bytes are hexadecimal, `-` stands for none; a refusal is
// the line `error`.

import Crypto
import CryptoExtras
import Foundation
import MLArchive
import MLEncryption
import MLNumerics

func bytes(_ text: Substring) -> [UInt8] { text == "-" ? [] : Hexadecimal.bytes(text.utf8)! }
func text(_ bytes: some Sequence<UInt8>) -> String {
    let text = Hexadecimal.text(bytes)
    return text.isEmpty ? "-" : text
}

func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    guard bytes.count == 32 else { throw ModelError(.invalidInput, "a key has 32 bytes") }
    return SecretBytes(Data(bytes))
}

func suite(_ name: Substring) -> WrapSuite {
    switch name {
    case "xwing": .xWing
    case "x25519": .x25519
    default: .aes
    }
}

func seal(_ message: [UInt8], _ key: SecretBytes, _ context: [UInt8], salt: [UInt8]?) -> [UInt8] {
    var stored: [UInt8] = []
    message.withUnsafeBytes { bytes in
        Cobblestone.seal(bytes, key: key, context: context, salt: salt) { stored += $0 }
    }
    return stored
}

func hpke(_ parts: [Substring]) throws -> [UInt8] {
    // RFC 9180, base mode: hpke KEM KDF AEAD privateKey enc info aad ciphertext
    func kdf() -> HPKE.KDF { [1: .HKDF_SHA256, 2: .HKDF_SHA384, 3: .HKDF_SHA512][Int(parts[2])!]! }
    func aead() -> HPKE.AEAD { [1: .AES_GCM_128, 2: .AES_GCM_256, 3: .chaChaPoly][Int(parts[3])!]! }
    let (key, encapsulated, info, aad, sealed) = (
        bytes(parts[4]), bytes(parts[5]), bytes(parts[6]), bytes(parts[7]), bytes(parts[8])
    )
    func open<Key: HPKEDiffieHellmanPrivateKey>(_ key: Key, _ kem: HPKE.KEM) throws -> [UInt8] {
        var recipient = try HPKE.Recipient(
            privateKey: key,
            ciphersuite: HPKE.Ciphersuite(kem: kem, kdf: kdf(), aead: aead()),
            info: Data(info),
            encapsulatedKey: Data(encapsulated)
        )
        return Array(try recipient.open(sealed, authenticating: aad))
    }
    switch Int(parts[1])! {
    case 0x20: return try open(Curve25519.KeyAgreement.PrivateKey(rawRepresentation: key), .Curve25519_HKDF_SHA256)
    case 0x10: return try open(P256.KeyAgreement.PrivateKey(rawRepresentation: key), .P256_HKDF_SHA256)
    case 0x11: return try open(P384.KeyAgreement.PrivateKey(rawRepresentation: key), .P384_HKDF_SHA384)
    case 0x12: return try open(P521.KeyAgreement.PrivateKey(rawRepresentation: key), .P521_HKDF_SHA512)
    default: throw ModelError(.unsupported, "unknown")
    }
}

/// The most memory that the process has had at once since the last call, in KiB.
func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Opens and checks an archive: the text "microseconds KiB error", or an error when it is accepted.
func refusal(_ path: String) throws -> [UInt8] {
    _ = try peak()
    let before = try peak()
    let start = ContinuousClock.now
    do { try ModelArchive(path).verify() } catch {
        let time = Int((ContinuousClock.now - start) / .microseconds(1))
        return Array("\(time) \(try peak() - before) \(error)".utf8)
    }
    throw ModelError(.invalidInput, "accepted")
}

func answer(_ parts: [Substring]) throws -> [UInt8] {
    func part(_ index: Int) -> [UInt8] { bytes(parts[index]) }
    switch parts[0] {
    case "seal":  // key context message
        return seal(part(3), try secret(part(1)), part(2), salt: nil)
    case "open":  // key context stored
        return try Cobblestone.open(part(3), key: try secret(part(1)), context: part(2))
    case "open-hash":  // key context stored: the number of bytes and SHA-512
        let plain = try Cobblestone.open(part(3), key: try secret(part(1)), context: part(2))
        return Array("\(plain.count) ".utf8) + SHA512.hash(data: plain)
    case "public":  // suite secret
        return try KeyPair.publicKey(suite(parts[1]), of: secret(part(2))) ?? []
    case "wrap", "unwrap":  // suite secret purpose plain-or-wrapped
        let key = try ModelKey.make(
            suite(parts[1]),
            secret: secret(part(2)),
            team: "T",
            created: "2026-01-01T00:00:00Z"
        )
        guard parts[0] == "wrap" else {
            return try KeyPair.unwrap(part(4), with: key, purpose: part(3)).withBytes { Array($0) }
        }
        return try KeyPair.wrap(secret(part(4)), with: key, purpose: part(3))
    case "hpke": return try hpke(parts)
    case "aes-gcm":  // key nonce aad ciphertext tag
        let box = try AES.GCM.SealedBox(nonce: .init(data: part(2)), ciphertext: part(4), tag: part(5))
        return Array(try AES.GCM.open(box, using: SymmetricKey(data: part(1)), authenticating: part(3)))
    case "aes-gcm-seal":  // key nonce aad message
        let box = try AES.GCM.seal(
            part(4),
            using: SymmetricKey(data: part(1)),
            nonce: .init(data: part(2)),
            authenticating: part(3)
        )
        return Array(box.ciphertext + box.tag)
    case "chacha":  // key nonce aad ciphertext tag
        let box = try ChaChaPoly.SealedBox(nonce: .init(data: part(2)), ciphertext: part(4), tag: part(5))
        return Array(try ChaChaPoly.open(box, using: SymmetricKey(data: part(1)), authenticating: part(3)))
    case "hkdf-sha256", "hkdf-sha512":  // key salt info size
        let key = SymmetricKey(data: part(1))
        let count = Int(parts[4])!
        let limit = parts[0] == "hkdf-sha256" ? 255 * 32 : 255 * 64
        guard count <= limit else { throw ModelError(.invalidInput, "too long") }
        let derived =
            parts[0] == "hkdf-sha256"
            ? HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: part(2), info: part(3), outputByteCount: count)
            : HKDF<SHA512>.deriveKey(inputKeyMaterial: key, salt: part(2), info: part(3), outputByteCount: count)
        return derived.withUnsafeBytes { Array($0) }
    case "hmac-sha256":  // key message
        return Array(HMAC<SHA256>.authenticationCode(for: part(2), using: SymmetricKey(data: part(1))))
    case "x25519":  // public private
        let shared = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: part(2))
            .sharedSecretFromKeyAgreement(with: .init(rawRepresentation: part(1)))
        return shared.withUnsafeBytes { Array($0) }
    case "ed25519":  // public message signature
        guard SigningKey.Public(bytes: part(1)).verify(part(3), of: part(2)) else {
            throw ModelError(.invalidInput, "wrong")
        }
        return [1]
    case "mlkem768-decaps":  // seed ciphertext
        let shared = try MLKEM768.PrivateKey(seedRepresentation: part(1), publicKey: nil).decapsulate(part(2))
        return shared.withUnsafeBytes { Array($0) }
    case "mlkem768-public":  // seed
        return Array(try MLKEM768.PrivateKey(seedRepresentation: part(1), publicKey: nil).publicKey.rawRepresentation)
    case "scrypt":  // passphrase salt N r p size
        let key = try KDF.Scrypt.deriveKey(
            from: part(1),
            salt: part(2),
            outputByteCount: Int(parts[6])!,
            rounds: Int(parts[3])!,
            blockSize: Int(parts[4])!,
            parallelism: Int(parts[5])!
        )
        return key.withUnsafeBytes { Array($0) }
    case "make-model":  // path layers width
        try makeModel(String(parts[1]), count: Int(parts[2])!, width: Int(parts[3])!)
        return []
    case "archive":  // path: what refusing an archive costs, in microseconds and in KiB
        return try refusal(String(parts[1]))
    default: fatalError("unknown line: \(parts[0])")
    }
}

while let line = readLine() {
    let parts = line.split(separator: " ")
    let answer = (try? answer(parts)).map(text) ?? "error"
    FileHandle.standardOutput.write(Data((answer + "\n").utf8))
}
