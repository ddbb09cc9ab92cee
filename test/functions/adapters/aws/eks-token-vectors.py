"""Prints eks-token-vectors.json: tokens of EKS as botocore, which shares no code with the SDK that we sign with, makes them.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install botocore==1.44.8 && /tmp/v/bin/python eks-token-vectors.py > eks-token-vectors.json
"""
import base64
import datetime
import json
from unittest import mock

import botocore
from botocore.session import Session

CASES = [
    ("credentials of a role", "eu-west-1", "east", "ASIAEXAMPLE", "AQoDYXdzEJr//+=:token&more", "2026-11-29T12:34:56"),
    ("credentials of a user", "us-east-1", "east", "AKIDEXAMPLE", None, "2026-01-01T00:00:00"),
    ("the partition of GovCloud", "us-gov-west-1", "Prod_1-a", "AKIDEXAMPLE", None, "2026-12-31T23:59:59"),
    ("the partition of China", "cn-north-1", "prod", "ASIAEXAMPLE", "t" * 900, "2028-02-29T08:00:01"),
]
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def url_of(region, cluster, access_key, session_token, at):
    client = Session().create_client(
        "sts",
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=SECRET,
        aws_session_token=session_token,
    )

    def add_header(request, **_):
        request.headers["x-k8s-aws-id"] = cluster

    client.meta.events.register("before-sign.sts.GetCallerIdentity", add_header)
    with mock.patch("botocore.auth.get_current_datetime", lambda: datetime.datetime.fromisoformat(at)):
        return client.generate_presigned_url("get_caller_identity", ExpiresIn=60, HttpMethod="GET")


def vector(name, region, cluster, access_key, session_token, at):
    url = url_of(region, cluster, access_key, session_token, at)
    token = "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    return {
        "name": name,
        "region": region,
        "cluster": cluster,
        "accessKeyId": access_key,
        "secretAccessKey": SECRET,
        "sessionToken": session_token,
        "signedAt": at + "Z",
        "token": token,
    }


print(json.dumps({"madeBy": "botocore " + botocore.__version__, "vectors": [vector(*case) for case in CASES]}, indent=2))
