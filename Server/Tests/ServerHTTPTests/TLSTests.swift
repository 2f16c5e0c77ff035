import AsyncHTTPClient
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerCore
import ServerHTTP
import SwiftASN1
import Testing
import X509

/// An authority of a test, and certificates that it vouches for.
struct Authority {
    private let key = P256.Signing.PrivateKey()
    private let certificate: Certificate

    init() throws {
        certificate = try Self.certificate(
            "Authority",
            key.publicKey,
            by: key,
            named: "Authority",
            isAuthority: true,
            expires: Date(timeIntervalSinceNow: 365 * 86_400)
        )
    }

    private static func certificate(
        _ name: String,
        _ publicKey: P256.Signing.PublicKey,
        by issuer: P256.Signing.PrivateKey,
        named issuerName: String,
        isAuthority: Bool = false,
        host: String? = nil,
        expires: Date
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -30 * 86_400),
            notValidAfter: expires,
            issuer: DistinguishedName { CommonName(issuerName) },
            subject: DistinguishedName { CommonName(name) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                if isAuthority { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) }
                if let host { SubjectAlternativeNames([.dnsName(host)]) }
            },
            issuerPrivateKey: Certificate.PrivateKey(issuer)
        )
    }

    /// Writes a certificate for `localhost` and its key.
    func issue(_ folder: String, name: String = "server", host: String = "localhost", expires: Date? = nil) throws {
        let own = P256.Signing.PrivateKey()
        let certificate = try Self.certificate(
            name,
            own.publicKey,
            by: key,
            named: "Authority",
            host: host,
            expires: expires ?? Date(timeIntervalSinceNow: 86_400)
        )
        let chain = try [certificate, self.certificate].map { try $0.serializeAsPEM().pemString }
        try chain.joined(separator: "\n").write(toFile: folder + "/chain.pem", atomically: true, encoding: .utf8)
        try own.pemRepresentation.write(toFile: folder + "/key.pem", atomically: true, encoding: .utf8)
    }

    var root: NIOSSLCertificate {
        get throws {
            try NIOSSLCertificate(bytes: Array(try certificate.serializeAsPEM().pemString.utf8), format: .pem)
        }
    }
}

func serverCertificate(_ folder: String) throws(ServerHTTP.CertificateError) -> ServerCertificate {
    try ServerCertificate(certificatePath: folder + "/chain.pem", keyPath: folder + "/key.pem")
}

/// Connections by TLS.
@Suite(.serialized) struct TLSTests {
    /// Asks the server with a client that trusts `root`, or nobody.
    private func ask(
        _ port: Int,
        _ root: NIOSSLCertificate?,
        path: String = "/health",
        only http1: Bool = false
    ) async throws -> HTTPClientResponse {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let root { tls.trustRoots = .certificates([root]) }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        if http1 { configuration.httpVersion = .http1Only }
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<HTTPClientResponse, any Error>
        do {
            let request = HTTPClientRequest(url: "https://localhost:\(port)\(path)")
            let answer = try await client.execute(request, timeout: .minutes(2))
            _ = try await answer.body.collect(upTo: 1 << 20)
            result = .success(answer)
        } catch { result = .failure(error) }
        try await client.shutdown()
        return try result.get()
    }

    /// The certificate that a server shows to new connections.
    private func shown(_ port: Int, _ root: NIOSSLCertificate) async throws -> NIOSSLCertificate {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([root])
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return channel
                }
            }
        // An answer that arrives says that the handshake has ended.
        let found = try await channel.eventLoop.scheduleTask(in: .milliseconds(300)) {
            try channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self).peerCertificate
        }.futureResult.get()
        try await channel.close()
        return try #require(found)
    }

    private func withFolder<R>(_ body: (String) async throws -> R) async throws -> R {
        let folder = FileManager.default.temporaryDirectory.path + "/tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder)
    }

    @Test func `clients that trust the authority are answered by HTTP 2 and 1, others refuse the server`() async throws
    {
        let world = try await World.make()
        defer { world.remove() }
        try await withFolder { folder in
            let authority = try Authority()
            try authority.issue(folder)
            var server = LiveServer()
            server.options.sendsFiles = false
            server.certificate = try serverCertificate(folder)
            let root = try authority.root
            let stranger = try Authority().root
            try await server.run(world.service) { port, _ in
                let second = try await ask(port, root)
                #expect(second.status == .ok && second.version == .http2)
                let first = try await ask(port, root, only: true)
                #expect(first.status == .ok && first.version == .http1_1)
                let file = try await ask(port, root, path: "/b/sha256/\(world.names["sha256"] ?? "")")
                #expect(file.status == .ok)
                for wrong in [nil, stranger] {
                    await #expect(throws: (any Error).self) { try await ask(port, wrong) }
                }
            }
        }
    }

    @Test(arguments: [("expired", "localhost", -60.0), ("of another host", "models.example.org", 86_400)])
    func `a certificate that is no good is refused by clients`(_ what: String, _ host: String, _ rest: Double)
        async throws
    {
        let world = try await World.make()
        defer { world.remove() }
        try await withFolder { folder in
            let authority = try Authority()
            try authority.issue(folder, host: host, expires: Date(timeIntervalSinceNow: rest))
            var server = LiveServer()
            let certificate = try serverCertificate(folder)
            server.certificate = certificate
            #expect((certificate.expires < Date()) == (rest < 0))
            let root = try authority.root
            try await server.run(world.service) { port, _ in
                await #expect(throws: (any Error).self, "\(what)") { try await ask(port, root) }
            }
        }
    }

    @Test func `a certificate that takes the place of another is shown to new connections`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        try await withFolder { folder in
            let authority = try Authority()
            try authority.issue(folder)
            var server = LiveServer()
            let certificate = try serverCertificate(folder)
            server.certificate = certificate
            let root = try authority.root
            let clock = ManualClock()
            let watch = CertificateWatch(certificate, logger: Logger(label: "test"), clock: clock)
            try await server.run(world.service, services: [watch]) { port, _ in
                let before = try await shown(port, root)
                let expires = Date(timeIntervalSinceNow: 7 * 86_400)
                try authority.issue(folder, name: "renewed", expires: expires)
                await clock.advance(by: .seconds(10))
                #expect(abs(certificate.expires.timeIntervalSince(expires)) <= 1)
                let after = try await shown(port, root)
                #expect(after != before)
                #expect(try await ask(port, root).status == .ok)
            }
        }
    }

    @Test func `files that cannot be used are named, and the certificate from before goes on`() async throws {
        try await withFolder { folder in
            let authority = try Authority()
            try authority.issue(folder)
            let certificate = try serverCertificate(folder)
            #expect(try !certificate.reload())
            let expires = certificate.expires
            // As a renewal looks of which one file has come.
            let chain = try String(contentsOfFile: folder + "/chain.pem", encoding: .utf8)
            let key = try String(contentsOfFile: folder + "/key.pem", encoding: .utf8)
            try authority.issue(folder, expires: Date(timeIntervalSinceNow: 7 * 86_400))
            let newChain = try String(contentsOfFile: folder + "/chain.pem", encoding: .utf8)
            try key.write(toFile: folder + "/key.pem", atomically: true, encoding: .utf8)
            #expect(throws: ServerHTTP.CertificateError.self) { try certificate.reload() }
            #expect(certificate.expires == expires)
            #expect(try !certificate.reload())

            let problems: [(String?, String?, String)] = [
                (nil, key, "chain.pem cannot be read"), (chain, nil, "key.pem cannot be read"),
                ("", key, "holds no certificate"), ("no PEM", key, "holds no certificate"),
                (key, key, "holds no certificate"),
                (chain, "no PEM", "holds no private key"), (chain, chain, "holds no private key"),
                (newChain, key, "is not that of the first certificate"),
                (String(repeating: "x", count: 2 << 20), key, "too large"),
            ]
            for (chain, key, message) in problems {
                for (name, text) in [("chain.pem", chain), ("key.pem", key)] {
                    try? FileManager.default.removeItem(atPath: folder + "/" + name)
                    try text?.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
                }
                let error = #expect(throws: ServerHTTP.CertificateError.self) { try serverCertificate(folder) }
                #expect(error?.description.contains(message) == true, "\(message): \(error?.description ?? "")")
            }
        }
    }
}
