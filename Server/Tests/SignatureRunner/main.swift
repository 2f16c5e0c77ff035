// Signs the requests that it reads, one JSON object a line, and prints what they are sent with.
import Foundation
import ServerBlobs

struct Question: Decodable {
    let access: String
    let secret: String
    let token: String?
    let region: String
    /// Seconds since 1970.
    let time: Double
    let method: String
    let host: String
    let path: String
    let query: [[String]]
    let headers: [[String]]
    /// The hash of the body.
    let body: String
    /// For how many seconds it is signed in advance; nothing for a request that is sent now.
    let presigned: Int?
}

while let line = readLine() {
    let question = try JSONDecoder().decode(Question.self, from: Data(line.utf8))
    let signer = S3Signer(
        S3Signer.Credentials(accessKey: question.access, secretKey: question.secret, sessionToken: question.token),
        region: question.region
    )
    let request = S3Signer.Request(
        method: question.method,
        host: question.host,
        path: question.path,
        query: question.query.map { ($0[0], $0[1]) },
        headers: question.headers.map { ($0[0], $0[1]) }
    )
    let time = Date(timeIntervalSince1970: question.time)
    if let seconds = question.presigned {
        print(signer.presignedQuery(for: request, seconds: seconds, at: time))
    } else {
        let headers = signer.headers(for: request, bodyHash: question.body, at: time)
        print(headers.last { $0.name == "Authorization" }?.value ?? "")
    }
}
