import CoreML
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

import ModelServing

private let headerLength = HTTPField.Name("Inference-Header-Content-Length")!
private let row = #"{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,0,0]}"#

@Suite("Serving models") struct ServingTests {
    private func everything() async throws -> ServingWorld {
        try await ServingWorld { models in
            try models.write(try TestModels.rows(), "rows/1/model.mlmodel")
            try models.write(try TestModels.rows(scale: 2), "rows/2/model.mlmodel")
            try models.write(try TestModels.copy(.double, [2]), "doubles.mlmodel")
            try models.write(try TestModels.copy(.int32, [2]), "integers.mlmodel")
            try models.write(try TestModels.picture(), "picture.mlmodel")
            try models.write(try TestModels.neighbors(), "neighbors.mlmodel")
        }
    }

    @Test func aWholeConversation() async throws {
        try await everything().run { client in
            for (path, body) in [
                ("health/live", #"{"live":true}"#), ("health/ready", #"{"ready":true}"#),
                ("models/rows/ready", #"{"name":"rows","ready":true}"#),
            ] {
                let answer = try await client.get("/v2/" + path)
                #expect(answer.status == .ok && String(buffer: answer.body) == body)
            }
            #expect(String(buffer: try await client.get("/v2").body).contains("binary_tensor_data"))
            #expect(try await client.get("/v2/models/rows/versions/1/ready").status == .ok)
            let metadata = String(buffer: try await client.get("/v2/models/rows").body)
            let tensor = #"{"name":"x","datatype":"FP32","shape":[-1,3]}"#
            #expect(metadata.contains(#""versions":["1","2"]"#) && metadata.contains(tensor), "\(metadata)")
            // The newest version by default; nested data; an id.
            let body = #"{"id":"7","inputs":[{"name":"x","datatype":"FP32","shape":[2,3],"data":[[1,0,0],[0,1,0]]}]}"#
            var answer = try Answer(await client.post("/v2/models/rows/infer", body))
            #expect(answer.id == "7" && answer.model_name == "rows" && answer.model_version == "2")
            #expect(answer.outputs?.first?.shape == [2, 3])
            #expect(answer.numbers("y") == [2, 8, 15, 4, 10, 17])
            answer = try Answer(await client.post("/v2/models/rows/versions/1/infer", "{\"inputs\":[\(row)]}"))
            #expect(answer.numbers("y") == [1, 4, 8] && answer.model_version == "1")
            let metrics = String(buffer: try await client.get("/metrics").body)
            #expect(metrics.contains(#"coreml_serve_requests_total{model="rows",version="2",status="200"} 1"#))
            #expect(metrics.contains("coreml_serve_models 6\n"), "\(metrics)")
            let statistics = String(buffer: try await client.get("/v2/models/rows/versions/1/stats").body)
            #expect(statistics.contains(#""inference_count":1"#))
            #expect(try await client.get("/v2/models/stats").status == .ok)
            #expect(String(buffer: try await client.get("/v2/models/rows/config").body).contains("TYPE_FP32"))
        }
    }

    @Test func binaryTensorsInBothDirections() async throws {
        try await everything().run { client in
            let head = """
                {"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"parameters":{"binary_data_size":12}}],
                "parameters":{"binary_data_output":true}}
                """
            var body = ByteBuffer(string: head)
            for value: Float in [0, 0, 1] { body.writeInteger(value.bitPattern, endianness: .little) }
            let headers: HTTPFields = [headerLength: "\(head.utf8.count)"]
            let path = "/v2/models/rows/versions/1/infer"
            let response = try await client.execute(uri: path, method: .post, headers: headers, body: body)
            let length = try #require(response.headers[headerLength].flatMap { Int($0) })
            var answer = response.body
            answer.moveReaderIndex(forwardBy: length)
            let values = (0..<3).compactMap { _ in answer.readInteger(endianness: .little, as: UInt32.self) }
            #expect(values.map { Float(bitPattern: $0) } == [3, 6, 10] && answer.readableBytes == 0)
            // The bytes of the only input alone.
            var raw = ByteBuffer()
            for value: Float in [1, 0, 0, 0, 1, 0] { raw.writeInteger(value.bitPattern, endianness: .little) }
            let alone = try await client.execute(uri: path, method: .post, headers: [headerLength: "0"], body: raw)
            #expect(try Answer(alone).numbers("y") == [1, 4, 8, 2, 5, 9])
        }
    }

    @Test func otherTypes() async throws {
        try await everything().run { client in
            func infer(_ model: String, _ input: String, _ rest: String = "") async throws -> Answer {
                try Answer(await client.post("/v2/models/\(model)/infer", "{\"inputs\":[\(input)]\(rest)}"))
            }
            var answer = try await infer("doubles", #"{"name":"x","datatype":"FP64","shape":[2],"data":[0.1,-3e-5]}"#)
            // The network computes in single precision.
            #expect(answer.numbers("y") == [Double(Float(0.1)), Double(Float(-3e-5))])
            answer = try await infer("integers", #"{"name":"x","datatype":"INT32","shape":[2],"data":[7,-9]}"#)
            #expect(answer.numbers("y") == [7, -9])
            let point = #"{"name":"point","datatype":"FP32","shape":[2],"data":[9,8]}"#
            answer = try await infer("neighbors", point)
            #expect(answer.texts("kind") == ["far"])
            #expect(answer.texts("probabilities.keys")?.first == "far")
            #expect(answer.outputs?.first { $0.name == "probabilities.values" }?.datatype == "FP64")
            let classes = #","outputs":[{"name":"probabilities","parameters":{"classification":1}}]"#
            answer = try await infer("neighbors", point, classes)
            #expect(answer.texts("probabilities")?.first?.hasSuffix(":0:far") == true && answer.outputs?.count == 1)
            answer = try await infer("neighbors", point, #","outputs":[{"name":"probabilities.keys"}]"#)
            #expect(answer.outputs?.map(\.name) == ["probabilities.keys"])
        }
    }

    @Test func picturesAsPixelsAndAsFiles() async throws {
        try await everything().run { client in
            let pixels = (0..<18).map { String($0 * 10) }.joined(separator: ",")
            let tensor = #"{"name":"image","datatype":"UINT8","shape":[2,3,3],"data":[\#(pixels)]}"#
            let answer = try Answer(await client.post("/v2/models/picture/infer", "{\"inputs\":[\(tensor)]}"))
            // From [height, width, colour] to [colour, height, width].
            let expected = (0..<3).flatMap { colour in (0..<6).map { Double(($0 * 3 + colour) * 10) } }
            #expect(answer.numbers("pixels") == expected)
            // The same pixels as a bitmap file, whose rows begin at the bottom and whose colours are blue, green, red.
            var file = ByteBuffer(string: "BM")
            for value: UInt32 in [78, 0, 54, 40, 3, 2] { file.writeInteger(value, endianness: .little) }
            for value: UInt16 in [1, 24] { file.writeInteger(value, endianness: .little) }
            for value: UInt32 in [0, 24, 0, 0, 0, 0] { file.writeInteger(value, endianness: .little) }
            for y in [1, 0] {
                for x in 0..<3 {
                    for colour in [2, 1, 0] { file.writeInteger(UInt8(((y * 3 + x) * 3 + colour) * 10)) }
                }
                file.writeRepeatingByte(0, count: 3)
            }
            let path = "/v2/models/picture/infer"
            let response = try await client.execute(uri: path, method: .post, headers: [headerLength: "0"], body: file)
            #expect(try Answer(response).numbers("pixels") == expected)
            let broken = try await client.post(path, "no picture", [headerLength: "0"])
            let reason = try Answer(broken).error
            #expect(broken.status == .badRequest && reason?.contains("\"image\"") == true)
        }
    }

    @Test(arguments: [
        ("", "ends too early"), ("[]", "JSON object"), ("{}", "inputs"), (#"{"inputs":[]}"#, "inputs"),
        (#"{"inputs":{}}"#, "an array"), (#"{"inputs":[1]}"#, "inputs[0]"), (#"{"inputs":[{}]}"#, "name"),
        (#"{"inputs":[{"name":"x"}]}"#, "datatype"), (#"{"inputs":[{"name":"x","datatype":"FP8"}]}"#, "FP8"),
        (#"{"inputs":[{"name":"x","datatype":"FP32"}]}"#, "shape"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3]}]}"#, "binary_data_size"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[-1,3],"data":[]}]}"#, "extents of 0 or more"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4611686018427387904,8],"data":[]}]}"#, "too large"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[4611686018427387904],"data":[1]}]}"#, "takes 46116"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2]}]}"#, "has 2 elements"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2,3,4]}]}"#, "has 4 elements"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2,"3"]}]}"#, "Element 2"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2,1e39]}]}"#, "Element 2"),
        (#"{"inputs":[{"name":"x","datatype":"INT32","shape":[1,3],"data":[1,2,3]}]}"#, "takes FP32"),
        (#"{"inputs":[{"name":"x","datatype":"INT8","shape":[1,3],"data":[1,2,300]}]}"#, "INT8"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}]}"#, "x"),
        (#"{"inputs":[{"name":"x","datatype":"FP32","shape":[0,3],"data":[]}]}"#, "x"),
        (#"{"inputs":[{"name":"z","datatype":"FP32","shape":[1],"data":[1]}]}"#, "\"x\" is missing"),
        ("{\"inputs\":[\(row),\(row)]}", "twice"),
        ("{\"inputs\":[\(row),{\"name\":\"z\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}]}", "no input \"z\""),
        ("{\"inputs\":[\(row)],\"outputs\":[{\"name\":\"z\"}]}", "no output \"z\""),
        ("{\"inputs\":[\(row)],\"parameters\":{\"sequence_id\":5}}", "sequence"),
        ("{\"inputs\":[\(row)],\"outputs\":[{}]}", "outputs[0]"), ("{\"inputs\":[\(row)]} x", "follows"),
        (
            #"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"parameters":{"binary_data_size":12}}]}"#,
            "12 binary"
        ),
        (
            #"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"parameters":{"shared_memory_region":"a"}}]}"#,
            "shared memory"
        ),
    ])
    func malformedRequestsAreNamed(body: String, culprit: String) async throws {
        let world = try await ServingWorld { try $0.write(try TestModels.rows(), "rows.mlmodel") }
        try await world.run { client in
            let response = try await client.post("/v2/models/rows/infer", body)
            #expect(response.status == .badRequest)
            let error = try Answer(response).error
            #expect(error?.contains(culprit) == true, "\(error ?? "")")
        }
    }

    @Test func addressesAndMethods() async throws {
        try await everything().run { client in
            for path in ["/v2/models/none", "/v2/models/rows/versions/9", "/none", "/v2/models/rows/versions/x/ready"] {
                let response = try await client.get(path)
                let reason = try Answer(response).error
                #expect(response.status == .notFound && reason != nil, "\(path)")
            }
            #expect(try await client.get("/v2/models/rows/infer").status == .methodNotAllowed)
            #expect(try await client.post("/v2/models/rows", "").status == .methodNotAllowed)
            #expect(try await client.post("/v2/repository/models/rows/load", "").status == .badRequest)
            let length: HTTPFields = [headerLength: "-3"]
            #expect(try await client.post("/v2/models/rows/infer", "{}", length).status == .badRequest)
            #expect(try await client.post("/v2/models/rows/infer", "{}", [headerLength: "9"]).status == .badRequest)
            let packed: HTTPFields = [.contentEncoding: "gzip"]
            #expect(try await client.post("/v2/models/rows/infer", "{}", packed).status == .unsupportedMediaType)
        }
    }

    @Test func bodiesAreLimited() async throws {
        var limits = RequestLimits()
        (limits.bodyBytes, limits.totalBytes) = (1000, 1500)
        let world = try await ServingWorld(limits: limits) { try $0.write(try TestModels.rows(), "rows.mlmodel") }
        try await world.run { client in
            let large = try await client.post("/v2/models/rows/infer", String(repeating: " ", count: 1001))
            #expect(large.status == .contentTooLarge)
            #expect(world.routes.budget.inUse == 0)
            let share = BodyReservation(world.routes.budget)
            try share.grow(to: 1400)
            let busy = try await client.post("/v2/models/rows/infer", String(repeating: " ", count: 900))
            #expect(busy.status == .serviceUnavailable && busy.headers[.retryAfter] == "1")
            withExtendedLifetime(share) {}
        }
    }

    /// Whatever is sent, the server answers, blames the client, and answers the next request.
    @Test func mutatedRequests() async throws {
        try await everything().run { client in
            var random = SystemRandomNumberGenerator()
            let good =
                "{\"inputs\":[\(row)],\"outputs\":[{\"name\":\"y\"}],\"parameters\":{\"binary_data_output\":true}}"
            let binary =
                #"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"parameters":{"binary_data_size":12}}]}"#
            for turn in 0..<1500 {
                var bytes = Array((turn % 2 == 0 ? good : binary + "abcdefghijkl").utf8)
                for _ in 0...Int.random(in: 0...3, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes.remove(at: index)
                    case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 2: bytes.insert(UInt8.random(in: 0x20...0x7E, using: &random), at: index)
                    default: bytes.removeSubrange(index..<min(bytes.count, index + 20))
                    }
                    if bytes.isEmpty { break }
                }
                let length = max(0, binary.utf8.count + Int.random(in: -2...2, using: &random))
                let headers: HTTPFields = turn % 2 == 0 ? [:] : [headerLength: "\(length)"]
                let body = ByteBuffer(bytes: bytes)
                let path = "/v2/models/rows/infer"
                let response = try await client.execute(uri: path, method: .post, headers: headers, body: body)
                #expect([200, 400].contains(response.status.code), "\(response.status): \(bytes)")
            }
            #expect(try await client.post("/v2/models/rows/infer", good).status == .ok)
        }
    }
}
