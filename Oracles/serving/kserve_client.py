"""kserve_client.py HTTP-PORT GRPC-PORT FOLDER: asks coreml-serve by KServe's own client, over HTTP and gRPC.

`check` starts the server, and this in a process of its own, because the messages of KServe and Triton have the same names.  The
answers to `FOLDER/request.npy` must be those of `FOLDER/expected.npy`, which tritonclient got.  Prints a line for each claim, in
the form of `check`.
"""
import asyncio
import pathlib
import sys

import grpc
import httpx
import numpy as np
from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig
from kserve.protocol.infer_type import RequestedOutput

HTTP, GRPC, FOLDER = f"http://127.0.0.1:{sys.argv[1]}", f"127.0.0.1:{sys.argv[2]}", pathlib.Path(sys.argv[3])


def check(what, holds):
    print("ok  " if holds else "FAIL", f"KServe's client, {what}", flush=True)


def request(array, binary, model="linear"):
    entry = InferInput("x", list(array.shape), "FP32")
    entry.set_data_from_numpy(array, binary_data=binary)
    outputs = [RequestedOutput("y", parameters={"binary_data": binary})]
    return InferRequest(model_name=model, infer_inputs=[entry], request_outputs=outputs)


def numbers(answer):
    return answer.outputs[0].as_numpy().ravel().astype(np.float32)


async def over_http(array, expected):
    async with InferenceRESTClient(RESTConfig(protocol="v2")) as client:
        check("HTTP: live and ready", await client.is_server_live(HTTP) and await client.is_server_ready(HTTP))
        check("HTTP: a model is ready", await client.is_model_ready(HTTP, "linear"))
        check("HTTP: no such model", not await client.is_model_ready(HTTP, "nothing"))
        for binary in (False, True):
            answer = await client.infer(HTTP, request(array, binary), model_name="linear")
            check(f"HTTP: the answer, {'binary' if binary else 'JSON'}", np.array_equal(numbers(answer), expected))
        answers = await asyncio.gather(*[client.infer(HTTP, request(array, True), model_name="linear") for _ in range(50)])
        check("HTTP: fifty at once", all(np.allclose(numbers(answer), expected, rtol=1e-5, atol=1e-7) for answer in answers))
        try:
            await client.infer(HTTP, request(array[:, :3], True), model_name="linear")
            check("HTTP: a wrong shape", False)
        except httpx.HTTPStatusError as error:
            check("HTTP: a wrong shape", "400" in str(error) and '"x"' in str(error))


async def over_grpc(array, expected):
    async with InferenceGRPCClient(GRPC) as client:
        check("gRPC: live and ready", await client.is_server_live() and await client.is_server_ready())
        check("gRPC: a model is ready", await client.is_model_ready("linear"))
        answer = await client.infer(request(array, True))
        check("gRPC: the answer", np.array_equal(numbers(answer), expected))
        answers = await asyncio.gather(*[client.infer(request(array, True)) for _ in range(50)])
        check("gRPC: fifty at once", all(np.allclose(numbers(answer), expected, rtol=1e-5, atol=1e-7) for answer in answers))
        try:
            await client.infer(request(array[:, :3], True))
            check("gRPC: a wrong shape", False)
        except grpc.aio.AioRpcError as error:
            check("gRPC: a wrong shape", error.code() == grpc.StatusCode.INVALID_ARGUMENT)


async def main():
    array, expected = (np.load(FOLDER / f"{name}.npy") for name in ("request", "expected"))
    await over_http(array, expected.ravel())
    await over_grpc(array, expected.ravel())


asyncio.run(main())
