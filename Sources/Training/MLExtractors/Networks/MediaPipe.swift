/// MediaPipe's networks for joints of hands and bodies, as `mediapipe` 0.10.21 has them; versions from 1.0 bring none.
extension Extractor {
    private static let mediaPipeSource = Source(
        package: "mediapipe",
        version: "0.10.21",
        file: "mediapipe-0.10.21-cp311-cp311-manylinux_2_28_x86_64.whl",
        sha256: "05dc4a9e593655a79558d05d6227d31018c2537a4bd3362b51e230cf22aecfe3",
        byteCount: 35_622_638,
        member: "mediapipe/modules"
    )

    private static func notice(_ networks: String) -> String {
        "Contains \(networks) of MediaPipe, Copyright 2019-2023 The MediaPipe Authors "
            + "(github.com/google-ai-edge/mediapipe), as in the package mediapipe 0.10.21. Licensed under the Apache License, "
            + "Version 2.0: http://www.apache.org/licenses/LICENSE-2.0. Changed: converted from TensorFlow Lite to Core ML."
    }

    /// 21 joints of each hand: palms are found in 192 × 192 pixels, joints in 224 × 224 around each.
    package static let mediaPipeHands = Extractor(
        name: "mediapipe-hands",
        title: "MediaPipe Hands",
        license: "Apache-2.0",
        notice: notice("the networks for palms and for landmarks of hands (palm_detection_full, hand_landmark_full)"),
        source: mediaPipeSource,
        architecture: .joints([
            Part(
                name: "detector",
                member: "palm_detection/palm_detection_full.tflite",
                interface: .init(outputs: ["boxes": "Identity", "scores": "Identity_1"], scale: 1 / 255, offset: 0)
            ),
            Part(
                name: "landmarks",
                member: "hand_landmark/hand_landmark_full.tflite",
                interface: .init(
                    outputs: [
                        "landmarks": "Identity", "presence": "Identity_1", "handedness": "Identity_2",
                        "worldLandmarks": "Identity_3",
                    ],
                    scale: 1 / 255,
                    offset: 0
                )
            ),
        ]),
        subject: .joints(size: 192, preprocessing: "RGB / 255"),
        featureCount: 21
    )

    /// 33 points of a body: persons are found in 224 × 224 pixels, points in 256 × 256 around each.
    package static let mediaPipeBody = Extractor(
        name: "mediapipe-body",
        title: "MediaPipe Pose",
        license: "Apache-2.0",
        notice: notice("the networks for persons and for landmarks of bodies (pose_detection, pose_landmark_full)"),
        source: mediaPipeSource,
        architecture: .joints([
            Part(
                name: "detector",
                member: "pose_detection/pose_detection.tflite",
                interface: .init(outputs: ["boxes": "Identity", "scores": "Identity_1"], scale: 2 / 255, offset: -1)
            ),
            Part(
                name: "landmarks",
                member: "pose_landmark/pose_landmark_full.tflite",
                interface: .init(
                    outputs: ["landmarks": "Identity", "presence": "Identity_1", "heatmap": "Identity_3"],
                    scale: 1 / 255,
                    offset: 0
                )
            ),
        ]),
        subject: .joints(size: 224, preprocessing: "RGB / 127.5 - 1 (persons), RGB / 255 (points)"),
        featureCount: 33
    )
}
