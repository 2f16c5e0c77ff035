import Crypto

/// The place of a device among 100,000, in thousandths of a percent: the same on every machine, as good as random, and
/// independent from salt to salt.
public enum Bucket {
    /// How many buckets there are: one is 0.001 %.
    public static let count = 100_000

    /// The first eight bytes (big endian) of SHA-256 of the install ID's bytes and the salt's, modulo 100,000.
    public static func number(installID: String, salt: String) -> Int {
        Int(bits(installID: installID, salt: salt) % UInt64(count))
    }

    /// The member that stands for an installation in a segment: the first 16 bytes of the same hash.
    public static func member(installID: String, salt: String) -> [UInt8] {
        hash(installID, salt) { Array($0.prefix(16)) }
    }

    /// The first eight bytes (big endian) of the same hash.
    static func bits(installID: String, salt: String) -> UInt64 {
        hash(installID, salt) { $0.loadUnaligned(as: UInt64.self).bigEndian }
    }

    private static func hash<R>(_ installID: String, _ salt: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        var (installID, salt) = (installID, salt)
        var hash = SHA256()
        installID.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        salt.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().withUnsafeBytes(body)
    }
}
