import { DatabaseSync } from 'node:sqlite';
import { DAMAGED } from '../disk-errors.ts';
import { ADDED_COLUMNS, ADDED_INDEX, ADDED_TABLES, SCHEMA } from './schema.ts';

/** Marks the file as a database of this program. https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x6d67_6c64;
const SCHEMA_VERSION = 1;

/** Throws an Error, and changes nothing, if the file has a newer schema or belongs to another program. */
export const checkOwner = (db: DatabaseSync): void => {
  // One transaction, so that a file that another process is creating is either empty or complete.
  db.exec('BEGIN');
  const { application_id: owner } = db.prepare('PRAGMA application_id').get() ?? {};
  const isOwn = owner === APPLICATION_ID || isEmpty(db);
  const version = versionOf(db);
  db.exec('COMMIT');
  if (!isOwn) throw new Error('it belongs to another program.');
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `its schema is version ${version}, and this program knows ${SCHEMA_VERSION}. Use the newer program.`,
    );
  }
};

/** Reads the whole file. Throws an Error if it is damaged. */
export const checkWhole = (db: DatabaseSync): void => {
  const { quick_check: result } = db.prepare('PRAGMA quick_check(1)').get() ?? {};
  if (result !== 'ok') throw new Error(DAMAGED);
};

/** The mode of the gateway that a database file belongs to. Undefined if there is none, or it cannot be read. */
export const modeOf = (path: string): unknown => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    return db.prepare("SELECT value FROM facts WHERE name = 'mode'").get()?.value;
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
};

const missingColumns = (db: DatabaseSync) =>
  ADDED_COLUMNS.filter(
    ([table, name]) => !db.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, name),
  );

/** Creates the tables of a new file, and the columns that an earlier release did not create. */
export const migrate = (db: DatabaseSync): void => {
  if (versionOf(db) === SCHEMA_VERSION && missingColumns(db).length === 0) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster.
    if (isEmpty(db)) {
      db.exec(SCHEMA);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    db.exec(ADDED_TABLES);
    for (const column of missingColumns(db)) db.exec(`ALTER TABLE ${column[0]} ADD COLUMN ${column[1]} ${column[2]}`);
    db.exec(ADDED_INDEX);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
};

const versionOf = (db: DatabaseSync): number => Number(db.prepare('PRAGMA user_version').get()?.user_version);

const isEmpty = (db: DatabaseSync): boolean =>
  versionOf(db) === 0 && db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
