// For Node: everything of callsign.js, a storage in a folder, and the verification of webhooks.

import {createHmac, timingSafeEqual, webcrypto} from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export * from './callsign.js';

/** @typedef {import('./callsign.js').Storage} Storage */

// Node 18 has it in the module only.
globalThis.crypto ??= /** @type {any} */ (webcrypto);

/** A directory entry is durable only after a sync of the directory. @param {string} folder */
function syncFolder(folder) {
    if (process.platform === 'win32') return;  // which has no such call
    const fd = fs.openSync(folder, 'r');
    fs.fsyncSync(fd);
    fs.closeSync(fd);
}

/** @param {string} folder */
function makeFolder(folder) {
    if (fs.existsSync(folder)) return;
    fs.mkdirSync(folder, {mode: 0o700, recursive: true});
    syncFolder(path.dirname(path.resolve(folder)));
}

/** Atomic: readers find the old file or the new one, even after a power cut.
 *  @param {string} file @param {any} value */
function writeFile(file, value) {
    const fd = fs.openSync(file + '.tmp', 'w', 0o600);
    fs.writeFileSync(fd, JSON.stringify(value));
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    fs.renameSync(file + '.tmp', file);
    syncFolder(path.dirname(file));
}

/** Keeps each change in a file of its own, and tasks and cursor together in one that is rewritten
 *  each time: enough for some thousand tasks. One process at a time. @implements {Storage} */
export class FolderStorage {
    #folder;
    /** @type {Record<string, any>} */ #store;

    /** @param {string} folder created if it does not exist */
    constructor(folder) {
        this.#folder = folder;
        for (const each of ['', 'outbox', 'rejected']) makeFolder(path.join(folder, each));
        const file = this.#file('store');
        this.#store = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
    }

    /** @param {string} key */
    #file(key) {
        return path.join(this.#folder, key + '.json');
    }

    /** @param {string} prefix @returns {Promise<[string, any][]>} */
    async load(prefix) {
        if (!/^(outbox|rejected)\/$/.test(prefix)) {
            const keys = Object.keys(this.#store).filter((key) => key.startsWith(prefix)).sort();
            return keys.map((key) => [key, this.#store[key]]);
        }
        const names = fs.readdirSync(path.join(this.#folder, prefix)).filter((name) => name.endsWith('.json'));
        return names.sort().map((name) => {
            const key = prefix + path.basename(name, '.json');
            return [key, JSON.parse(fs.readFileSync(this.#file(key), 'utf8'))];
        });
    }

    /** @param {[string, any][]} changes */
    async write(changes) {
        let isSaved = true;
        const save = () => {
            if (!isSaved) writeFile(this.#file('store'), this.#store);
            isSaved = true;
        };
        for (const [key, value] of changes) {
            if (!/^(outbox|rejected)\//.test(key)) {
                isSaved = false;
                if (value === undefined) delete this.#store[key];
                else this.#store[key] = value;
                continue;
            }
            save();
            if (value !== undefined) {
                writeFile(this.#file(key), value);
            } else {
                fs.rmSync(this.#file(key), {force: true});
                syncFolder(path.dirname(this.#file(key)));
            }
        }
        save();
    }
}

/** Returns the body of a webhook's request, or throws an Error that says why it is not the server's
 *  (https://www.standardwebhooks.com). @param {string | string[]} secrets whsec_..., during a rotation
 *  both @param {Record<string, string | string[] | undefined>} headers with names in lower case
 *  @param {string | Buffer} body as it came @param {{now?: number, tolerance?: number}} [options]
 *  `tolerance`: seconds that the clocks may differ */
export function verifyWebhook(secrets, headers, body, {now = Date.now(), tolerance = 300} = {}) {
    const id = String(headers['webhook-id'] ?? ''), at = String(headers['webhook-timestamp'] ?? '');
    if (!id || !/^\d+$/.test(at)) throw new Error('It is not signed.');
    if (Math.abs(now / 1000 - Number(at)) > tolerance) throw new Error('It is too old, or a clock is wrong.');
    const given = String(headers['webhook-signature'] ?? '').split(' ').filter((each) => each.startsWith('v1,'));
    const text = typeof body === 'string' ? body : body.toString('utf8');
    for (const secret of [secrets].flat()) {
        const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
        const wanted = createHmac('sha256', key).update(`${id}.${at}.${text}`).digest();
        for (const each of given) {
            const signature = Buffer.from(each.slice(3), 'base64');
            if (signature.length === wanted.length && timingSafeEqual(signature, wanted)) return JSON.parse(text);
        }
    }
    throw new Error('The signature is wrong.');
}
