class LocalSystemOne:
    endpoint = "http://localhost/v1/systemone"
