import Foundation
import Glibc

/// Determines whether the network in use is paid for by the byte.
package struct NetworkMeter: Sendable {
    package enum State: Equatable {
        case unmetered
        /// Metered, for the reason given.
        case metered(String)
    }

    /// The folder to use in place of "/", for tests.
    private let root: String
    /// The seconds that the message bus may take for each answer.
    private let patience: Int

    package init(root: String = "", patience: Int = 1) { (self.root, self.patience) = (root, patience) }

    /// Whether the network is metered.
    ///
    /// NetworkManager knows the user's setting and the announcements of phones that share their connection. Where it is
    /// absent or does not know, a modem's interface counts as metered and everything else does not.
    package var state: State {
        switch SystemBus.networkManagerMetered(socket: root + "/run/dbus/system_bus_socket", patience: patience) {
        // NMMetered: 1 yes, 2 no, 3 and 4 the same as guesses, 0 not known.
        case 1, 3: return .metered("NetworkManager states that the network is metered")
        case 2, 4: return .unmetered
        default: break
        }
        guard let interface = defaultInterface, isModem(interface) else { return .unmetered }
        return .metered("the network is that of the modem \(interface)")
    }

    /// The interface of the default route with the lowest metric.
    ///
    /// Fields of `/proc/net/route`: name, destination, …, metric at 6, mask at 7.
    private var defaultInterface: String? {
        let routes = text("/proc/net/route").split(separator: "\n").dropFirst().compactMap { line -> (Int, String)? in
            let fields = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000" else { return nil }
            return (Int(fields[6]) ?? .max, fields[0])
        }
        return routes.min { $0.0 < $1.0 }?.1
    }

    private func isModem(_ interface: String) -> Bool {
        let lines = text("/sys/class/net/\(interface)/uevent").split(separator: "\n")
        return lines.contains("DEVTYPE=wwan") || ["wwan", "ppp", "rmnet"].contains { interface.hasPrefix($0) }
    }

    private func text(_ path: String) -> String {
        // Files of /proc report a size of 0, and are read to their end.
        guard let file = FileHandle(forReadingAtPath: root + path) else { return "" }
        defer { try? file.close() }
        return String(decoding: (try? file.read(upToCount: 1 << 20)) ?? Data(), as: UTF8.self)
    }
}

/// Queries the system's message bus (D-Bus specification, "Message Protocol" and "Authentication Protocol").
enum SystemBus {
    private static let maximumMessageByteCount = 64 << 10

    /// The property `Metered` of NetworkManager; `nil` without a bus, without NetworkManager, or after an invalid
    /// answer.
    ///
    /// The bus may take `patience` seconds for each answer.
    static func networkManagerMetered(socket path: String, patience: Int) -> UInt32? {
        guard let connection = Connection(path, patience: patience) else { return nil }
        let name = "org.freedesktop.NetworkManager"
        guard connection.authenticate(),
            connection.call(
                destination: "org.freedesktop.DBus",
                path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus",
                member: "Hello",
                arguments: []
            ) != nil,
            let answer = connection.call(
                destination: name,
                path: "/org/freedesktop/NetworkManager",
                interface: "org.freedesktop.DBus.Properties",
                member: "Get",
                arguments: [name, "Metered"]
            )
        else { return nil }
        // A variant: its signature "u", then the number at the next multiple of four.
        guard answer.count >= 8, Array(answer[0..<3]) == [1, UInt8(ascii: "u"), 0] else { return nil }
        return Wire.number(answer, at: 4)
    }

    private final class Connection {
        private let descriptor: Int32
        private var serial: UInt32 = 0

        init?(_ path: String, patience: Int) {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return nil }
            var limit = timeval(tv_sec: patience, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result == 0 else {
                close(descriptor)
                return nil
            }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        /// Authenticates by EXTERNAL: the kernel tells the bus the user of this process.
        func authenticate() -> Bool {
            let user = String(getuid()).utf8.map { String(format: "%02x", $0) }.joined()
            guard send([0] + Array("AUTH EXTERNAL \(user)\r\n".utf8)) else { return false }
            var line: [UInt8] = []
            while !line.hasSuffix([13, 10]) {
                guard line.count < 512, let byte = receive(1) else { return false }
                line += byte
            }
            return line.starts(with: Array("OK ".utf8)) && send(Array("BEGIN\r\n".utf8))
        }

        /// Calls a method with strings as arguments; returns the body of the answer, or `nil` for an error.
        func call(
            destination: String,
            path: String,
            interface: String,
            member: String,
            arguments: [String]
        ) -> [UInt8]? {
            serial += 1
            var body: [UInt8] = []
            for argument in arguments { Wire.append(argument, to: &body) }
            var fields: [UInt8] = []
            Wire.append(field: 1, "o", path, to: &fields)
            Wire.append(field: 2, "s", interface, to: &fields)
            Wire.append(field: 3, "s", member, to: &fields)
            Wire.append(field: 6, "s", destination, to: &fields)
            if !arguments.isEmpty {
                let signature = String(repeating: "s", count: arguments.count)
                Wire.pad(&fields, 8)
                fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.utf8.count)] + Array(signature.utf8) + [0]
            }
            // Little-endian, a method call that starts no service, protocol version 1.
            var message: [UInt8] = [UInt8(ascii: "l"), 1, 2, 1]
            for number in [UInt32(body.count), serial, UInt32(fields.count)] { Wire.append(number, to: &message) }
            message += fields
            Wire.pad(&message, 8)
            return send(message + body) ? answer(to: serial) : nil
        }

        /// The body of the answer to a call; signals and other answers before it are skipped.
        private func answer(to serial: UInt32) -> [UInt8]? {
            for _ in 0..<64 {
                guard let start = receive(16), start[0] == UInt8(ascii: "l"), let length = Wire.number(start, at: 4),
                    let fieldLength = Wire.number(start, at: 12), length <= SystemBus.maximumMessageByteCount,
                    fieldLength <= SystemBus.maximumMessageByteCount,
                    let fields = receive((Int(fieldLength) + 7) & ~7), let body = receive(Int(length))
                else { return nil }
                guard Wire.replySerial(Array(fields.prefix(Int(fieldLength)))) == serial else { continue }
                return start[1] == 2 ? body : nil
            }
            return nil
        }

        private func send(_ bytes: [UInt8]) -> Bool {
            var remaining = bytes[...]
            while !remaining.isEmpty {
                let count = remaining.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                remaining = remaining.dropFirst(count)
            }
            return true
        }

        private func receive(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            var position = 0
            while position < count {
                let received = bytes.withUnsafeMutableBytes {
                    recv(descriptor, $0.baseAddress! + position, count - position, 0)
                }
                guard received > 0 else { return nil }
                position += received
            }
            return bytes
        }
    }

    /// The encoding of values in messages (D-Bus specification, "Marshaling").
    private enum Wire {
        static func pad(_ bytes: inout [UInt8], _ alignment: Int) {
            while bytes.count % alignment != 0 { bytes.append(0) }
        }

        static func append(_ number: UInt32, to bytes: inout [UInt8]) {
            pad(&bytes, 4)
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }

        static func append(_ text: String, to bytes: inout [UInt8]) {
            append(UInt32(text.utf8.count), to: &bytes)
            bytes += Array(text.utf8) + [0]
        }

        static func append(field code: UInt8, _ type: String, _ text: String, to bytes: inout [UInt8]) {
            pad(&bytes, 8)
            bytes += [code, 1] + Array(type.utf8) + [0]
            append(text, to: &bytes)
        }

        static func number(_ bytes: [UInt8], at offset: Int) -> UInt32? {
            guard offset >= 0, offset + 4 <= bytes.count else { return nil }
            return (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
        }

        /// The header field 5: the serial number of the call that a message answers.
        static func replySerial(_ fields: [UInt8]) -> UInt32? {
            var position = 0
            while position + 4 <= fields.count {
                let (code, signatureLength) = (fields[position], Int(fields[position + 1]))
                guard signatureLength == 1 else { return nil }
                let type = fields[position + 2]
                position += 4
                switch type {
                case UInt8(ascii: "u"):
                    position = (position + 3) & ~3
                    guard let number = number(fields, at: position) else { return nil }
                    if code == 5 { return number }
                    position += 4
                case UInt8(ascii: "s"), UInt8(ascii: "o"):
                    position = (position + 3) & ~3
                    guard let count = number(fields, at: position), count <= SystemBus.maximumMessageByteCount else {
                        return nil
                    }
                    position += 4 + Int(count) + 1
                case UInt8(ascii: "g"):
                    guard position < fields.count else { return nil }
                    position += 1 + Int(fields[position]) + 1
                default: return nil
                }
                position = (position + 7) & ~7
            }
            return nil
        }
    }
}

extension Array<UInt8> {
    fileprivate func hasSuffix(_ end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
