"""ONNX Runtime behind FastAPI, as one would write it: `fastapi_side.py PORT THREADS NAME=MODEL.onnx:OUTPUT …`.

POST /NAME/json takes {"inputs": {NAME: nested lists}} and answers {OUTPUT: list}; POST /NAME/binary takes the arrays' bytes one
after the other, in the order of the model's inputs, and answers the output's bytes.  One process, uvloop and httptools; requests
run in Starlette's thread pool, where ONNX Runtime releases the interpreter's lock.  THREADS is ONNX Runtime's for one request.
"""
import sys

import numpy as np
import onnxruntime
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

TYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}


class Body(BaseModel):
    inputs: dict[str, list]


def serve(app, name, path, output, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    entries = [(entry.name, TYPES[entry.type], [1, *entry.shape[1:]]) for entry in session.get_inputs()]

    @app.post(f"/{name}/json")
    def predict_json(body: Body):
        feed = {entry: np.asarray(body.inputs[entry], dtype=kind) for entry, kind, _ in entries}
        answer = orjson.dumps({output: session.run([output], feed)[0]}, option=orjson.OPT_SERIALIZE_NUMPY)
        return Response(answer, media_type="application/json")

    @app.post(f"/{name}/binary")
    async def predict_binary(request: Request):
        data = await request.body()
        feed, start = {}, 0
        for entry, kind, shape in entries:
            count = int(np.prod(shape))
            feed[entry] = np.frombuffer(data, kind, count, start).reshape(shape)
            start += feed[entry].nbytes
        result = await run_in_threadpool(session.run, [output], feed)
        return Response(result[0].tobytes(), media_type="application/octet-stream")


def main():
    port, threads = int(sys.argv[1]), int(sys.argv[2])
    app = FastAPI()
    for argument in sys.argv[3:]:
        name, rest = argument.split("=", 1)
        path, output = rest.rsplit(":", 1)
        serve(app, name, path, output, threads)
    uvicorn.run(app, port=port, log_level="warning", access_log=False)


main()
