-- What version 1 wrote: a run of two steps, of which the first has ended and the second is in its second attempt;
-- and one that has ended.
INSERT INTO meta VALUES ('instance', '01kbj0000000000000000000in'), ('epoch', '3');
INSERT INTO runs VALUES ('01KBJ000000000000000000001', 'demo', '', 'local', 'p.yaml', CAST('{"a":1}' AS BLOB), 'running', 0, 1, 2,
  CAST('{"version":1,"pipeline":"demo","steps":null}' AS BLOB),
  CAST('{"id":"01KBJ000000000000000000001","status":"running","created_at":"2026-12-01T10:00:00Z"}' AS BLOB), CAST('null' AS BLOB));
INSERT INTO runs VALUES ('01KBJ000000000000000000000', 'demo', '', 'local', 'p.yaml', CAST('{}' AS BLOB), 'rejected', 1, 0, 0, NULL,
  CAST('{"id":"01KBJ000000000000000000000","status":"rejected","created_at":"2026-12-01T10:00:00Z"}' AS BLOB), CAST('null' AS BLOB));
INSERT INTO steps VALUES ('01KBJ000000000000000000001', 0, 'zulu', 1, CAST('{"id":"zulu","status":"succeeded"}' AS BLOB),
  CAST('{"id":"zulu"}' AS BLOB), CAST('{"id":"zulu"}' AS BLOB), CAST('[{"path":"nodeSelector","layers":["builtin"]}]' AS BLOB));
INSERT INTO steps VALUES ('01KBJ000000000000000000001', 1, 'alpha', 0, CAST('{"id":"alpha","status":"starting","attempt":{"number":2,"status":"requested"}}' AS BLOB),
  CAST('{"id":"alpha"}' AS BLOB), CAST('{"id":"alpha"}' AS BLOB), CAST('null' AS BLOB));
INSERT INTO attempts VALUES ('01KBJ000000000000000000001', 'alpha', 1, CAST('{"number":1,"status":"ended"}' AS BLOB), NULL);
INSERT INTO commands VALUES ('01KBJ000000000000000000001', 'alpha', 2, 'start', CAST('{"kind":"start","step":"alpha","attempt":2}' AS BLOB));
INSERT INTO events VALUES ('01KBJ000000000000000000001', 1, CAST('{"kind":"run","status":"queued"}' AS BLOB)),
  ('01KBJ000000000000000000001', 2, CAST('{"kind":"run","status":"running"}' AS BLOB));
