import { isIP } from 'node:net';

export const list = (text: string): readonly string[] => text.trim().split(/\s+/);

export const inner = list(`
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.0.0.53 127.255.255.255
  168.63.129.16 169.254.0.1 169.254.100.1 169.254.169.123 169.254.169.253 169.254.169.254 169.254.170.2 169.254.170.23
  169.254.255.255 172.16.0.1 172.17.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1
  192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
  233.252.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
  :: ::1 ::2 ::127.0.0.1 ::169.254.169.254 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:10.0.0.1
  ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::127.0.0.1 64:ff9b::169.254.169.254 64:ff9b::8.8.8.8
  64:ff9b:1::10.0.0.1 100::1 100:0:0:1::1 200::1 1000::1 2001::1 2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:80ff:fffe
  2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:5::1 2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2002:7f00:1::
  2002:a9fe:a9fe::1 2002:a00:1::1 2002:808:808::1 2620:4f:8000::1 3fff::1 4000::1 5f00::1 8000::1 c000::1 fc00::1 fd00::1
  fd00:ec2::254 fd00:ec2::23 fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 feff::1 ff02::1 ff05::2`);
export const inUrl = (address: string): string => `http://${isIP(address) === 6 ? `[${address}]` : address}`;

/** Spellings that the URL parser turns into one of the addresses above. */
export const spellings = list(`
  127.1 127.0.1 2130706433 0x7f000001 0X7F.1 0x7f.0x0.0x0.0x1 017700000001 0177.0.0.1 0177.0x0.1 00000177.1 127.000.000.001
  127.0.0.1. 127.65535 0 0x 0.0 00.0x0.0 %31%32%37.0.0.1 127%2e0%2e0%2e1 ①②⑦.⓪.⓪.① 127。0。0。1 0x7f。1
  ${'\uff11\uff12\uff17.\uff10.\uff10.\uff11'} 1${'\u00ad'}27.0.0.1 2852039166 0xa9fea9fe 0xA9.0xFE.0xA9.0xFE
  0251.0376.0251.0376 169.254.43518 169.16689662 0xa83f8110 2822734096 3232235521 0xffffffff 4294967295 167772161 012.1
  0xAC100001 [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0.0.0.1] [0::0] [::FFFF:7F00:1]
  [0:0:0:0:0:ffff:127.0.0.1] [0:0:0:0:0:FFFF:A9FE:A9FE] [FD00:EC2::254] [fE80::1] [64:FF9B::7F00:1]`);

/** URLs whose host is not the one that a reader sees. */
export const disguises = list(String.raw`
  http:///127.0.0.1/a http:\\127.0.0.1\a http://127.0.0.1\@a.example/ http://127.0.0.1#@a.example/ http://@127.0.0.1/
  http://127.0.0.1?@a.example/ http://127.0.0.1/@a.example/ HTTP://127.0.0.1:80/ https://127.0.0.1:443/ https:127.1
  http://127.0.0.1:8080 https://[::1]:8443/ http://127.0.0.1:0000080/`);
export const withSpaces = [
  '  http://127.0.0.1/  ',
  'ht\ntp://127.0.0.1/',
  'http://127.0.0.1:\n80/',
  '\u0000http://1\t27.0.0.1',
];

/** Names of internal hosts. For the URL parser, some are not hosts. */
export const innerNames = [
  ...list(`localhost localhost. LOCALHOST ⓛocalhost %6cocalhost a.localhost ip6-localhost 127.0.0.1.nip.example 127.0.0.1..
    127.0.0.1.example metadata.google.internal instance-data.ec2.internal host.docker.internal printer.local a - _x_`),
  `${'a'.repeat(300)}.example`,
];

/** Lookup results that are rejected as a whole. */
export const mixedAnswers = [
  ...list(`8.8.8.8,127.0.0.1 127.0.0.1,8.8.8.8 8.8.8.8,1.1.1.1,9.9.9.9,10.0.0.1 2606:4700::1111,::1 ::1,2606:4700::1111
    2606:4700::1111,8.8.8.8,fd00:ec2::254 8.8.8.8,::ffff:127.0.0.1 8.8.8.8,169.254.169.254 2606:4700::1111%eth0 fe80::1%lo
    127.1 0x7f.1 localhost`).map((addresses) => [addresses.split(',')]),
  [['']],
  [[]],
];

/** URLs that are rejected without a lookup, by message. */
export const refusedUnasked: Readonly<Record<string, readonly string[]>> = {
  'must be an http(s) URL.': list(`
    file:///etc/passwd file://127.0.0.1/etc/passwd data:image/png;base64,iVBORw0KGgo= gopher://a.example:80/_x ftp://a.example/a
    ftps://a.example/a sftp://a.example/a ws://a.example/ wss://a.example/ javascript:1 blob:http://a.example/1 about:blank
    dict://a.example:80/ ldap://a.example/ phar://a tftp://a.example/ jar:http://a.example!/ view-source:http://a.example
    unix:/run/docker.sock node:fs http+unix://%2Frun%2Fdocker.sock/a s3://bucket/a gs://bucket/a netdoc:///etc/passwd
    httpx://a.example`),
  'this is not a valid URL.': [
    ...list(`/a.png //127.0.0.1/a a.example/a.png http:// https:// http://? http://:80/ http://a.example:99999/ http://[::1
      http://::1/ http://[::1]. http://[fe80::1%25eth0]/ http://[fe80::1%eth0]/ http://[::1%00]/ http://1.2.3.256/
      http://256.0.0.1 http://4294967296 http://127.0.0.1.1 http://0x100000000 http://127.0.0.08 http://127.0.0.1%00.example/
      http://a%2fb/ http://a<b http://[::ffff:127.0.0.256] http://a:b:c/`),
    '',
    ' ',
    'http://a b/',
  ],
  'the URL must not contain a user name or password.': list(`
    http://user@a.example/ http://user:word@a.example/ http://:word@a.example/ https://user@a.example:443/
    http://a.example@127.0.0.1/ http://a.example:80@127.0.0.1/ http://a.example%2f@127.0.0.1/ http://a@b@127.0.0.1/`),
  'the URL must use port 80, 443, 8080 or 8443.': list(`
    0 1 21 22 23 25 53 81 110 111 135 139 143 389 444 445 465 587 2375 2379 3000 3306 5432 6379 8000 8081 9000 9200 10250
    11211 27017 65535`).map((port) => `http://a.example:${port}/`),
};
