/** How files, programs, commands and protocols write the value of a key that names a secret: `‹›` is its place. */
export const secretSyntaxes: readonly string[] = [
  // Shells, environment files, Docker, Windows.
  ...[
    'API_KEY=‹›',
    'export DB_PASSWORD="‹›"',
    "export DB_PASSWORD='‹›' # note",
    'set API_TOKEN=‹›',
    'DB_PASS=‹›',
  ],
  ...[
    '$env:API_KEY = "‹›"',
    'setx API_KEY ‹›',
    'ENV API_KEY ‹›',
    'ENV API_KEY=‹›',
    'env A=1 STRIPE_KEY=‹› node x.js',
  ],
  ...['docker run -e POSTGRES_PASSWORD=‹› postgres', 'PGPASSWORD=‹› psql -h a', 'MYSQL_PWD=‹› mysqldump'],
  ...['heroku config:set API_KEY=‹›', 'kubectl create secret generic a --from-literal=password=‹›'],
  ...['java -Djavax.net.ssl.keyStorePassword=‹› -jar a.jar', 'aws configure set aws_session_token ‹›'],
  // YAML, TOML, ini, properties, HCL.
  ...[
    'password: ‹›',
    '  password: "‹›"',
    "apiKey: '‹›'",
    '- token: ‹›',
    'client_secret = "‹›"',
    '[db]\npassword=‹›',
  ],
  ...[
    'spring.datasource.password=‹›',
    'ansible_password: ‹›',
    'secret_key_base: ‹›',
    'api_keys: { api_key: ‹› }',
  ],
  ...['- name: DB_PASSWORD\n  value: ‹›', '- name: DB_PASSWORD\n  value: "‹›"', 'stringData:\n  api-key: ‹›'],
  // JSON, also in JSON.
  ...['{"token": "‹›"}', '{"DB_PASS":"‹›"}', '{"name": "DB_PASSWORD", "value": "‹›"}', '"x-api-key":"‹›"'],
  ...[JSON.stringify('a\npassword=‹›\nb'), JSON.stringify(JSON.stringify({ password: '‹›' }))],
  ...[JSON.stringify('API_KEY="‹›"'), JSON.stringify(JSON.stringify('x\tapi_key: ‹›\n'))],
  // Flags, headers, cookies, URLs.
  ...[
    'tool --token ‹›',
    'tool --api-key=‹› -v',
    "tool --password '‹›'",
    'tool -token ‹› x',
    'wget --password=‹› a',
  ],
  ...[
    'X-Api-Key: ‹›',
    'curl -H "X-Auth-Token: ‹›" a',
    "-H 'PRIVATE-TOKEN: ‹›'",
    'x-api-key:‹›',
    'DD-API-KEY: ‹›',
  ],
  ...['Authorization: Bearer ‹›', '--header "Authorization: token ‹›"', 'authorization=Basic ‹›'],
  ...['Cookie: a=b; session=‹›; c=d', 'Set-Cookie: sid=‹›; HttpOnly', "curl --cookie 'sid=‹›' a"],
  ...[
    'https://a.example/b?api_key=‹›&c=1',
    'https://a.example/b?access_token=‹›',
    'otpauth://totp/a?secret=‹›',
  ],
  ...['next=%2Fa%3Fpassword%3D‹›%26x', 'curl -u jill:‹› https://a', "curl -s --user 'jill:‹›' https://a"],
  // The files of npm, netrc, PostgreSQL, Docker, and connection strings.
  ...[
    '//registry.example/:_authToken=‹›',
    'machine a.example login jill password ‹›',
    'db.example:5432:a:jill:‹›',
  ],
  ...['machine a.example\n  login jill\n  password ‹›\n', 'Server=db;User Id=sa;Password=‹›;Encrypt=true'],
  ...['Data Source=a;Pwd=‹›;', 'host=a user=jill password=‹› dbname=b', '<password>‹›</password>'],
  ...['<add key="ApiKey" value="‹›" />', '<property name="password" value="‹›"/>', '<s:apiKey>‹›</s:apiKey>'],
  // Programs and statements.
  ...[
    "define('DB_PASSWORD', '‹›');",
    'os.environ["API_KEY"] = "‹›"',
    'client.setPassword("‹›")',
    "api_key => '‹›'",
  ],
  ...[
    "const apiKey = '‹›';",
    "const apiKey: string = '‹›';",
    'password := "‹›"',
    'password = b"‹›"',
    'api_key = [ "‹›" ]',
  ],
  ...["IDENTIFIED BY '‹›'", "ALTER USER a WITH PASSWORD '‹›'", 'requests.get(a, auth=("jill", "‹›"))'],
  ...['mysql -u root -p‹› a', 'sshpass -p ‹› ssh a', 'redis-cli -h a -a ‹›', 'docker login -u jill -p ‹›'],
  'The password is ‹›.',
];
