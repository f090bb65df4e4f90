"""Forms in which programs, files and people write a secret; %% stands where it is, ## for a login in base64."""

import base64
import json

SECRET = "Tr0ub4dor-S3cr3t-x9"


def _basic(secret: str) -> str:
    return base64.b64encode(f"alice:{secret}".encode()).decode()


_JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="%%";'
FORMS = {
    # properties and configs of Kafka
    "ssl.keystore.password": "ssl.keystore.password=%%",
    "ssl.key.password, spaced": "listener.name.internal.ssl.key.password = %%",
    "sasl.jaas.config": f"sasl.jaas.config={_JAAS}",
    "jaas file": f"KafkaServer {{ {_JAAS} }};",
    "jaas user": 'user_alice="%%"',
    "jaas, colon": 'sasl.jaas.config: org.x.ScramLoginModule required password="%%";',
    "basic.auth.user.info": "basic.auth.user.info=alice:%%",
    "schema registry": "schema.registry.basic.auth.user.info=alice:%%",
    "basic.auth.credentials": "value.converter.basic.auth.credentials=alice:%%",
    "bearer.auth.token": "bearer.auth.token=%%",
    "api.key": "confluent.api.key=%%",
    "client secret": "oauth.client.secret=%%",
    "clientSecret in JAAS": 'clientId="kafka" clientSecret="%%"',
    "password.encoder.secret": "password.encoder.secret=%%",
    "delegation.token.secret.key": "delegation.token.secret.key=%%",
    "aws.secret.access.key": "aws.secret.access.key=%%",
    "connection.password": "connection.password=%%",
    "scram option": "SCRAM-SHA-512=[iterations=8192,password=%%]",
    "add-config": "--add-config SCRAM-SHA-256=[password=%%]",
    "keystore key": "ssl.keystore.key=%%",
    # command lines
    "--password X": "bin/member --password %% --group g",
    "--password=X": "bin/member --password=%% --group g",
    "--password 'X'": "bin/member --password '%%'",
    "--api-key X": "bin/member --api-key %%",
    "--token X": "bin/member --token %%",
    "--client-secret X": "bin/member --client-secret %%",
    "-storepass X": "keytool -list -storepass %%",
    "-keypass X": "keytool -keypass %%",
    "-passin pass:X": "openssl rsa -passin pass:%%",
    "curl -u": "curl -u alice:%% https://host/",
    "curl --user": "curl --user alice:%% https://host/",
    "sshpass": "sshpass -p %% ssh host",
    "mysql": "mysql -u root -p%%",
    "redis-cli": "redis-cli -h x -a %% ping",
    "ldapsearch": "ldapsearch -D cn=x -w %%",
    "-D option": "java -Djavax.net.ssl.trustStorePassword=%% -Xmx1g",
    "-D option, quoted": 'java "-Dsome.password=%%" -jar x',
    "kcat -X": "kcat -X sasl.password=%% -L",
    "words of a list": "['member', '--password', '%%', '--group']",
    # environment
    "AWS_SECRET_ACCESS_KEY": "AWS_SECRET_ACCESS_KEY=%%",
    "AWS_SESSION_TOKEN": "env AWS_SESSION_TOKEN=%% x",
    "PGPASSWORD": "PGPASSWORD=%% psql",
    "MYSQL_PWD": "export MYSQL_PWD=%%",
    "GITHUB_TOKEN": "GITHUB_TOKEN: %%",
    "KAFKA_SASL_JAAS_CONFIG": f"KAFKA_SASL_JAAS_CONFIG={_JAAS}",
    # HTTP
    "Authorization: Basic": "Authorization: Basic ##",
    "Authorization: Bearer": "Authorization: Bearer %%",
    "Authorization, in JSON": '{"Authorization": "Bearer %%"}',
    "Authorization, in Python": "{'authorization': 'Token %%'}",
    "Proxy-Authorization": "Proxy-Authorization: Basic ##",
    "Basic by itself": "sent Basic ## to host",
    "Bearer by itself": "sent Bearer %% to host",
    "X-Api-Key": "X-Api-Key: %%",
    "X-Vault-Token": "curl -H 'X-Vault-Token: %%'",
    "Cookie": "Cookie: session=%%",
    "Set-Cookie": "Set-Cookie: JSESSIONID=%%; Path=/",
    "?token=": "GET https://host/x?token=%%&a=1",
    "&access_token=": "https://host/x?a=1&access_token=%%",
    "?sig=": "https://host/blob?sv=1&sig=%%",
    "?key=": "https://maps.host/x?key=%%",
    "X-Amz-Signature": "https://bucket/x?X-Amz-Signature=%%&x=1",
    "URL with login": "amqp://alice:%%@host:5672/",
    "URL without user": "redis://:%%@host:6379/0",
    "URL with token": "https://%%-%%-%%@github.com/x.git",
    "jdbc": "jdbc:postgresql://h/db?user=a&password=%%",
    "jdbc, sqlserver": "jdbc:sqlserver://h;user=a;password=%%;encrypt=true",
    # files
    "password 'X'": "password '%%'",
    'password "X"': 'user a password "%%"',
    "passphrase": "passphrase: %%",
    "passphrase of words": "passphrase: correct %% staple",
    "pwd": "uid=sa;pwd=%%;",
    "<password>": "<server><password>%%</password></server>",
    "<entry key>": '<entry key="db.password">%%</entry>',
    "<add value>": '<add key="password" value="%%"/>',
    "<name><value>": "<property><name>fs.s3a.secret.key</name><value>%%</value></property>",
    "xml attribute": '<user name="a" password="%%"/>',
    "yaml": "spring:\n  datasource:\n    password: %%\n",
    "yaml, quoted": 'password: "%%"',
    "yaml, block": "password: |\n  %%\nuser: a",
    "kubernetes env": "- name: DB_PASSWORD\n  value: %%",
    "toml": 'password = "%%"',
    "ruby": ":password => '%%'",
    "go": 'password := "%%"',
    "netrc": "machine host login alice password %%",
    ".npmrc": "//registry.host/:_authToken=%%",
    "docker config": '{"auths": {"host": {"auth": "##"}}}',
    "sql": "CREATE USER a IDENTIFIED BY '%%'",
    "event hubs": "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=%%",
    "azure storage": "AccountName=n;AccountKey=%%;EndpointSuffix=x",
    # texts of programs
    "json": json.dumps({"password": "%%"}),
    "json in json": json.dumps({"text": json.dumps({"ssl.key.password": "%%, and more"})}),
    "json, twice escaped": json.dumps(json.dumps({"text": json.dumps({"password": "%%"})})),
    "json, name and value": json.dumps({"name": "ssl.key.password", "value": "%%"}),
    "json, value and name": json.dumps({"value": "%%", "name": "ssl.key.password"}),
    "python": "{'sasl.password': '%%'}",
    "python tuple": "('sasl.password', '%%')",
    "python repr": "Login(user='a', password='%%')",
    "python bytes": "Login(user='a', password=b'%%')",
    "java map": "{user=a, sasl.password=%%, x=y}",
    "java record": "ScramCredential(salt=%%, storedKey=%%, serverKey=%%, iterations=4096)",
    "znode of SCRAM": "salt=%%,stored_key=%%,server_key=%%,iterations=4096",
    "zookeeper digest": "addauth digest super:%%",
    "hmac": "hmac=%%",
    "pem": "-----BEGIN PRIVATE KEY-----\n%%\n-----END PRIVATE KEY-----",
    "pem, cut off": "-----BEGIN ENCRYPTED PRIVATE KEY-----\n%%",
    "password1": "password1=%%",
    "token.value": "token.value: %%",
    "log line": "[2026-01-01] ERROR cannot log in with password=%% (x.Y)",
}
"""Name of each form, and the form."""


def written(form: str, secret: str = SECRET) -> str:
    """The form with the secret in it."""
    return FORMS[form].replace("##", _basic(secret)).replace("%%", secret)


def traces(secret: str = SECRET) -> tuple[str, ...]:
    """What must be nowhere: the secret, and the login that a header has."""
    return secret, _basic(secret)
