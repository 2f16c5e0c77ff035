public import Foundation
public import HummingbirdCore
import HummingbirdHTTP2
public import Logging
import NIOCore
import NIOSSL
public import ServiceLifecycle
import Synchronization
import UnixSignals

/// Why a certificate and its key cannot be used.
public struct CertificateError: Error, Sendable, CustomStringConvertible {
    public let description: String
}

/// The certificate by which clients know the server, with its key: PEM files, which are read again when others take their place.
///
/// Connections that are open go on; those that begin get the certificate that is newest by then.
public final class ServerCertificate: Sendable {
    private struct State {
        var pair: Pair
        /// The files that were read last, also those that could not be used.
        var stamps: [Stamp]
    }

    /// A certificate with those that vouch for it, and the key.
    private struct Pair {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
        /// When the first of them to expire does.
        let expires: Date
    }

    /// What tells a file from one that took its place.
    private struct Stamp: Equatable {
        /// Where links lead.
        let path: String
        /// Its number in the file system, its length, and when it was changed.
        let attributes: [String]
    }

    private let certificatePath: String
    private let keyPath: String
    private let state: Mutex<State>

    /// - Parameters:
    ///   - certificatePath: the server's certificate in PEM, followed by those that vouch for it.
    ///   - keyPath: its private key in PEM, without a passphrase.
    public init(certificatePath: String, keyPath: String) throws(CertificateError) {
        (self.certificatePath, self.keyPath) = (certificatePath, keyPath)
        let stamps = [certificatePath, keyPath].map { Self.stamp($0) }
        state = Mutex(State(pair: try Self.read(certificatePath, keyPath), stamps: stamps.compactMap { $0 }))
    }

    /// When the certificate, or the first of those that vouch for it, expires.
    public var expires: Date { state.withLock { $0.pair.expires } }

    /// Reads the files if they are others than those that were read last.
    /// - Returns: whether there is another certificate now.
    /// - Throws: when the files cannot be used; the certificate from before goes on.
    public func reload() throws(CertificateError) -> Bool {
        let stamps = [certificatePath, keyPath].compactMap { Self.stamp($0) }
        guard state.withLock({ $0.stamps != stamps }) else { return false }
        state.withLock { $0.stamps = stamps }
        let pair = try Self.read(certificatePath, keyPath)
        state.withLock { $0.pair = pair }
        return true
    }

    /// - Returns: `nil` when there is no file.
    private static func stamp(_ path: String) -> Stamp? {
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: place) else { return nil }
        return Stamp(
            path: place,
            attributes: [.systemFileNumber, .size, .modificationDate].map { String(describing: attributes[$0]) }
        )
    }

    // MARK: Reading

    private static let largestFile = 1 << 20

    private static func bytes(_ path: String) throws(CertificateError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            let data = try file.read(upToCount: largestFile + 1) ?? Data()
            guard data.count <= largestFile else {
                throw CertificateError(description: "\(path) is too large for a certificate or a key.")
            }
            return Array(data)
        } catch let error as CertificateError { throw error } catch {
            throw CertificateError(description: "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    private static func read(_ certificatePath: String, _ keyPath: String) throws(CertificateError) -> Pair {
        let (certificateBytes, keyBytes) = (try bytes(certificatePath), try bytes(keyPath))
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMBytes(certificateBytes) } catch {
            throw CertificateError(description: "\(certificatePath) holds no certificate in PEM.")
        }
        guard let first = chain.map(\.notValidAfter).min() else {
            throw CertificateError(description: "\(certificatePath) holds no certificate in PEM.")
        }
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(bytes: keyBytes, format: .pem) } catch {
            throw CertificateError(description: "\(keyPath) holds no private key in PEM, or one with a passphrase.")
        }
        // The library compares keys.
        do { _ = try NIOSSLContext(configuration: configuration(chain, key)) } catch {
            throw CertificateError(
                description: "The key in \(keyPath) is not that of the first certificate in \(certificatePath)."
            )
        }
        return Pair(chain: chain, key: key, expires: Date(timeIntervalSince1970: TimeInterval(first)))
    }

    private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }

    // MARK: Serving

    /// What each connection begins with.
    var configuration: TLSConfiguration {
        let pair = state.withLock { $0.pair }
        var configuration = Self.configuration(pair.chain, pair.key)
        configuration.sslContextCallback = { [self] _, promise in
            let pair = state.withLock { $0.pair }
            var now = NIOSSLContextConfigurationOverride()
            now.certificateChain = pair.chain.map { .certificate($0) }
            now.privateKey = .privateKey(pair.key)
            promise.succeed(now)
        }
        return configuration
    }
}

extension Reception {
    /// How connections are spoken on: HTTP/1.1, or over TLS what client and server agree on of HTTP/2 and HTTP/1.1.
    /// - Parameter certificate: `nil` for connections without TLS.
    public func server(_ certificate: ServerCertificate?) -> HTTPServerBuilder {
        let (http1, patience) = (http1, patience)
        guard let certificate else {
            return HTTPServerBuilder { responder in
                GuardedChannel(base: HTTP1Channel(responder: responder, configuration: http1), patience: patience)
            }
        }
        return HTTPServerBuilder { responder in
            let base = try HTTP2UpgradeChannel(
                tlsChannelConfiguration: .init(tlsConfiguration: certificate.configuration),
                configuration: .init(idleTimeout: patience, streamConfiguration: http1),
                responder: responder
            )
            return GuardedChannel(base: base, patience: patience)
        }
    }
}

/// Looks from time to time, and at `SIGHUP`, whether there is a new certificate.
public struct CertificateWatch: ServiceLifecycle.Service {
    private let certificate: ServerCertificate
    private let logger: Logger
    private let interval: Duration

    public init(_ certificate: ServerCertificate, logger: Logger, interval: Duration = .seconds(10)) {
        (self.certificate, self.logger, self.interval) = (certificate, logger, interval)
    }

    /// How long before a certificate expires its end is told of, in seconds.
    private static let notice = 14 * 86_400.0

    public func run() async throws {
        tellOfEnd()
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await look() }
                group.addTask { await listen() }
            }
        }
    }

    private func look() async {
        while (try? await Task.sleep(for: interval)) != nil { reload() }
    }

    private func listen() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { reload() }
    }

    private func reload() {
        do throws(CertificateError) {
            guard try certificate.reload() else { return }
            logger.notice("There is a new certificate, which is good until \(certificate.expires.ISO8601Format()).")
            tellOfEnd()
        } catch {
            logger.error("The certificate from before goes on: \(error)")
        }
    }

    private func tellOfEnd() {
        let (expires, now) = (certificate.expires, Date())
        if expires <= now {
            logger.warning("The certificate has expired (\(expires.ISO8601Format())): clients refuse it.")
        } else if expires.timeIntervalSince(now) < Self.notice {
            logger.warning("The certificate expires soon: \(expires.ISO8601Format()).")
        }
    }
}
