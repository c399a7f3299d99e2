// A client of a Callsign server: notes changes durably, sends each exactly once, and keeps a copy of
// the account's tasks up to date. Browsers, Node 18, React Native; no dependencies.
//
// Two rules make it safe to stop a program at any instant:
//   1. A change is in the storage before add(), edit() ... return, with its idempotency key.
//   2. It leaves the storage only when its outcome is there.
// So a request may be sent twice; its key makes that harmless.

/**
 * @typedef {{uuid: string, seq: number, etag: string, key?: string, number?: number,
 *     status: string, description?: string, tags?: string[], [field: string]: any}} Task
 * @typedef {{seq: number, at: string, by?: string, task: Task, changed?: string[], purged?: boolean,
 *     cursor: string}} Change
 * @typedef {{description: string, uuid?: string, [field: string]: any}} NewTask
 * @typedef {{set?: Record<string, any>, addTags?: string[], removeTags?: string[]}} Edit
 *     `set`: a merge patch (RFC 7396); null removes a field. Tags that others add or remove stay so.
 * @typedef {{id: string, op: string, key: string, uuid: string, task?: NewTask, edit?: Edit,
 *     body?: any, sent?: {etag: string, body: any}, problem?: any}} Entry
 * @typedef {{
 *     load(prefix: string): Promise<[string, any][]>,
 *     write(changes: [string, any][]): Promise<void>}} Storage
 *     load: keys with this prefix, in the order of the keys, and their JSON values. write: sets
 *     values (undefined: removes the key) in this order, together or one after the other, durable
 *     on completion. Several may run at once.
 */

const batchMax = 500;  // creations in one request
const pauseFirst = 100, pauseLongest = 60_000;  // milliseconds; exponential back-off
const answerTimeout = 70_000;                   // a long poll takes up to 55 s
const silenceMax = 60_000;                      // a stream without an event for this long is dead
const silentStreamsMax = 2;                     // then a proxy holds them back: polls instead
const waitMin = 2_000;                          // from one wait for changes to the next
const statuses = ['pending', 'completed', 'deleted', 'recurring'];
// Rejections that a change did not cause: of the token, the address, the account.
const unrelated = ['no-such-path', 'account-opaque', 'account-disabled'];

/** The server's rejection of a request (RFC 9457). */
export class Problem extends Error {
    /** @param {any} body */
    constructor(body) {
        super(wordsOf(body));
        this.name = 'Problem';
        /** @type {number} */ this.status = body.status;
        /** Does not change between versions. @type {string} */ this.code = body.code;
        /** @type {string} */ this.title = body.title;
        /** @type {{field?: string, code: string, detail: string}[]} */ this.errors = body.errors ?? [];
        /** false: it does not pass by itself. @type {boolean | undefined} */ this.retryable = body.retryable;
        /** @type {any} */ this.body = body;
    }
}

/** No answer, or a temporary one: nothing is lost; try again later. */
export class Unavailable extends Error {
    /** @param {string} why @param {number} [retryIn] milliseconds @param {boolean} [isLasting] */
    constructor(why, retryIn = 0, isLasting = false) {
        super(why);
        this.name = 'Unavailable';
        this.retryIn = retryIn;
        /** It does not pass by itself. */ this.isLasting = isLasting;
    }
}

/** Keeps everything until the program ends. @implements {Storage} */
export class MemoryStorage {
    /** @type {Map<string, string>} */ #all = new Map();

    /** @param {string} prefix @returns {Promise<[string, any][]>} */
    async load(prefix) {
        const keys = [...this.#all.keys()].filter((key) => key.startsWith(prefix)).sort();
        return keys.map((key) => [key, JSON.parse(this.#all.get(key) ?? 'null')]);
    }
    /** @param {[string, any][]} changes */
    async write(changes) {
        for (const [key, value] of changes) {
            if (value === undefined) this.#all.delete(key);
            else this.#all.set(key, JSON.stringify(value));
        }
    }
}

/** Keeps everything in the browser's IndexedDB. @implements {Storage} */
export class BrowserStorage {
    /** @type {Promise<IDBDatabase>} */ #opened;

    /** @param {string} name one for each account */
    constructor(name) {
        this.#opened = new Promise((resolve, reject) => {
            const request = indexedDB.open(name, 1);
            request.onupgradeneeded = () => request.result.createObjectStore('values');
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
    }
    /** @param {string} prefix @returns {Promise<[string, any][]>} */
    async load(prefix) {
        const values = (await this.#opened).transaction('values').objectStore('values');
        const range = IDBKeyRange.bound(prefix, prefix + '\uffff');
        const [keys, all] = await Promise.all([done(values.getAllKeys(range)), done(values.getAll(range))]);
        return keys.map((key, n) => [String(key), all[n]]);
    }
    /** @param {[string, any][]} changes */
    async write(changes) {
        const opened = await this.#opened;
        const writing = opened.transaction('values', 'readwrite', {durability: 'strict'});
        const values = writing.objectStore('values');
        for (const [key, value] of changes) {
            if (value === undefined) values.delete(key);
            else values.put(value, key);
        }
        await new Promise((resolve, reject) => {
            writing.oncomplete = resolve;
            writing.onabort = () => reject(writing.error);
        });
    }
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

// ---- requests ----

/** @param {any} body */
function wordsOf(body) {
    const errors = (body.errors ?? []).map((/** @type {any} */ e) => `${e.field ?? ''}: ${e.detail}`);
    return errors.join(' ') || body.detail || body.title || 'no reason given';
}

/** Calls `end` when the signal aborts, or at once if it has. Returns what ends that.
 *  @param {AbortSignal | undefined} signal @param {() => void} end */
function onAbort(signal, end) {
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
    return () => signal?.removeEventListener('abort', end);
}

/** @param {number} wanted milliseconds @param {AbortSignal} [signal] ends the pause */
function sleep(wanted, signal) {
    return new Promise((resolve) => {
        let forget = () => {};
        const end = () => {
            clearTimeout(timer);
            forget();
            resolve(undefined);
        };
        const timer = setTimeout(end, wanted);
        forget = onAbort(signal, end);
    });
}

/** Exponential back-off with jitter: clients that failed together do not retry together.
 *  @param {number} attempt @param {number} atLeast */
function pauseAfter(attempt, atLeast) {
    const usual = pauseFirst * 2 ** Math.min(attempt, 10) * (0.5 + Math.random() / 2);
    return Math.min(atLeast + usual, pauseLongest);
}

/** Whether the request did not cause it: the same one is sent again. @param {any} problem */
function isPassing({status, code}) {
    return status >= 500 || status === 408 || status === 429 || code === 'request-in-progress';
}

/** Whether it passes by itself; otherwise a person must act first. @param {any} problem */
function isBrief(problem) {
    return problem.retryable !== false;
}

/** Whether another change would be rejected, too. @param {Problem} problem */
function isDenied({status, code}) {
    return status === 401 || status === 403 || unrelated.includes(code);
}

/** Sends requests of one account. Members throw Problem and Unavailable. */
export class Server {
    #fetch;
    #token;

    /** @param {{url: string, token: string, fetch?: typeof fetch, attempts?: number}} options
     *     `attempts`: of a request before Unavailable */
    constructor({url, token, fetch = globalThis.fetch.bind(globalThis), attempts = 6}) {
        if (!/^https?:\/\/[^/]/.test(url)) throw new Error(`${url} is not the URL of a server.`);
        this.url = url.replace(/\/+$/, '');
        this.attempts = attempts;
        this.#token = token.trim();
        if (!/^[\x21-\x7e]+$/.test(this.#token)) throw new Error('The token has characters that no token has.');
        this.#fetch = fetch;
    }

    /** Returns the response, of any status. Throws if there is none.
     *  @param {string} method @param {string} path @param {any} [body]
     *  @param {Record<string, string>} [headers] @param {AbortSignal} [signal] */
    send(method, path, body, headers = {}, signal) {
        /** @type {Record<string, string>} */
        const all = {Authorization: `Bearer ${this.#token}`, ...headers};
        if (body !== undefined) all['Content-Type'] = 'application/json';
        const text = body === undefined ? undefined : JSON.stringify(body);
        return this.#fetch(this.url + path, {method, headers: all, body: text, signal, redirect: 'error'});
    }

    /** Returns the answer to a request that may be repeated: a read, or a write with a key.
     *  @param {(answer: any) => boolean} isOurs whether it is an answer of Callsign to this request
     *  @param {string} method @param {string} path @param {any} [body]
     *  @param {Record<string, string>} [headers] @param {AbortSignal} [signal] */
    async ask(isOurs, method, path, body, headers, signal) {
        for (let attempt = 1;; ++attempt) {
            const [answer, wait] = await this.#askOnce(isOurs, method, path, body, headers, signal);
            if (!(answer instanceof Problem)) return answer;
            if (signal?.aborted) throw new Unavailable('The request was cancelled.');
            if (!isPassing(answer)) throw answer;
            if (attempt >= this.attempts || !isBrief(answer)) {
                const why = `The server is temporarily unavailable: ${answer.message}`;
                throw new Unavailable(why, wait, !isBrief(answer));
            }
            await sleep(pauseAfter(attempt - 1, wait), signal);
        }
    }

    /** Answers of proxies and other programs count as no answer.
     *  @param {(answer: any) => boolean} isOurs @param {string} method @param {string} path @param {any} body
     *  @param {Record<string, string> | undefined} headers @param {AbortSignal | undefined} signal
     *  @returns {Promise<[any, number]>} */
    async #askOnce(isOurs, method, path, body, headers, signal) {
        const ending = new AbortController();
        const end = () => ending.abort();
        const timer = setTimeout(end, answerTimeout);
        const forget = onAbort(signal, end);
        try {
            const response = await this.send(method, path, body, headers, ending.signal);
            const answer = await response.json();
            if (response.ok && isOurs(answer)) return [answer, 0];
            if (response.ok || !isProblem(response, answer)) throw new Error(`status ${response.status}`);
            return [new Problem({...answer, status: response.status}), waitOf(response)];
        } catch (error) {
            const why = error instanceof Error ? error.message : String(error);
            return [new Problem({status: 503, detail: `no answer from Callsign (${why})`}), 0];
        } finally {
            clearTimeout(timer);
            forget();
        }
    }
}

/** @param {Response} response @param {any} body */
function isProblem(response, body) {
    const type = response.headers.get('Content-Type') ?? '';
    return type.startsWith('application/problem+json') && typeof body?.code === 'string';
}

/** @param {Response} response milliseconds of its Retry-After */
function waitOf(response) {
    const text = response.headers.get('Retry-After') ?? '';
    return /^\d+$/.test(text) ? 1000 * Number(text) : 0;
}

/** The server-sent events of a response. @param {ReadableStream<Uint8Array>} body
 *  @returns {AsyncGenerator<[string, any]>} */
async function* eventsOf(body) {
    const reader = body.getReader(), decoder = new TextDecoder();
    let unread = '';
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return;
        const whole = (unread + decoder.decode(value, {stream: true})).split('\n\n');
        unread = whole.pop() ?? '';
        for (const event of whole) {
            const fields = new Map(event.split('\n').map((line) => {
                const colon = line.indexOf(': ');
                return [line.slice(0, colon), line.slice(colon + 2)];
            }));
            const data = fields.get('data');
            if (data) yield [fields.get('event') ?? '', JSON.parse(data)];
        }
    }
}

// ---- the client ----

/** A new random UUID (version 4). */
export function randomUUID() {
    const source = globalThis.crypto;
    if (!source?.getRandomValues) {
        throw new Error('This system has no crypto.getRandomValues: load a package that adds it.');
    }
    if (source.randomUUID) return source.randomUUID();  // not in pages over http
    const bytes = source.getRandomValues(new Uint8Array(16));
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    const text = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** @param {Edit} edit @param {Task} task as it is now: the patch replaces the whole list of tags */
function patchOf({set = {}, addTags = [], removeTags = []}, task) {
    if (!addTags.length && !removeTags.length) return set;
    const tags = [...new Set([...task.tags ?? [], ...addTags])];
    return {...set, tags: tags.filter((tag) => !removeTags.includes(tag))};
}

/** The task after a change, as far as a client knows. @param {Entry} entry @param {Task} now @returns {Task} */
function changedBy({op, id, edit, body}, now) {
    const at = new Date(Number(id.slice(0, 15))).toISOString();
    /** @type {Record<string, any>} */ let patch = {};
    if (edit) {
        patch = patchOf(edit, now);
        if (patch.attributes) patch = {...patch, attributes: {...now.attributes, ...patch.attributes}};
    } else if (op === 'annotate') {
        patch = {annotations: [...now.annotations ?? [], {entry: at, ...body}]};
    } else {
        patch = {complete: {status: 'completed', start: null}, reopen: {status: 'pending'}, delete: {status: 'deleted'},
                 start: {start: now.start ?? at}, stop: {start: null}}[op] ?? {};
    }
    const all = Object.entries({...now, ...patch}).filter(([, value]) => value !== null);
    return /** @type {any} */ (Object.fromEntries(all));
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One account's tasks. Open one client for each storage at a time. */
export class Client {
    /** The server's tasks, by UUID. @type {Map<string, Task>} */ tasks = new Map();
    /** Noted changes without an outcome, the oldest first. @type {Entry[]} */ outbox = [];
    /** Changes that the server rejected, each with its `problem`. @type {Entry[]} */ rejected = [];
    /** Called with each change of the account's tasks, own ones included.
     *  @type {(change: Change) => void} */ onchange = () => {};
    /** Called when the server is not available, and null when it is again.
     *  @type {(error: Unavailable | null) => void} */ onstate = () => {};

    #storage;
    #server;
    /** @type {string | undefined} */ #cursor;
    #last = 0;  // of the IDs of entries
    /** @type {Promise<unknown>} */ #syncing = Promise.resolve();
    /** @type {AbortController | null} */ #waiting = null;  // follow() waits for changes
    #silent = 0;       // streams in a row in which nothing came
    #waitedAt = -Infinity;  // when the last wait for changes began, whatever the clock is set to

    /** @param {Server} server @param {Storage} storage */
    constructor(server, storage) {
        this.#server = server;
        this.#storage = storage;
    }

    /** @param {{url: string, token: string, storage?: Storage, fetch?: typeof fetch,
     *     attempts?: number}} options */
    static async open({storage = new MemoryStorage(), ...options}) {
        const client = new Client(new Server(options), storage);
        client.outbox = (await storage.load('outbox/')).map(([, entry]) => entry);
        const waiting = new Set(client.outbox.map(({id}) => id));
        // A program that ended between two writes has left an entry in both.
        client.rejected = (await storage.load('rejected/')).map(([, entry]) => entry).filter(({id}) => !waiting.has(id));
        client.tasks = new Map((await storage.load('task/')).map(([, task]) => [task.uuid, task]));
        client.#cursor = (await storage.load('cursor'))[0]?.[1];
        for (const {id} of client.outbox) client.#last = Math.max(client.#last, Number(id.slice(0, 15)));
        return client;
    }

    // ---- noting changes; each is durable on completion ----

    /** Returns the new task's UUID. @param {NewTask} task */
    async add(task) {
        const uuid = task.uuid ? this.#uuidOf(task.uuid) : randomUUID();
        const entry = task.entry ?? new Date().toISOString();
        await this.#note({op: 'create', uuid, task: {...task, uuid, entry}});
        return uuid;
    }
    // `ref`: the task's UUID, or the key of a task of this copy.
    /** @param {string} ref @param {Edit} edit */
    async edit(ref, edit) { await this.#note({op: 'edit', uuid: this.#uuidOf(ref), edit}); }
    /** @param {string} ref */
    async complete(ref) { await this.#note({op: 'complete', uuid: this.#uuidOf(ref)}); }
    /** @param {string} ref */
    async reopen(ref) { await this.#note({op: 'reopen', uuid: this.#uuidOf(ref)}); }
    /** @param {string} ref */
    async start(ref) { await this.#note({op: 'start', uuid: this.#uuidOf(ref)}); }
    /** @param {string} ref */
    async stop(ref) { await this.#note({op: 'stop', uuid: this.#uuidOf(ref)}); }
    /** @param {string} ref @param {string} description */
    async annotate(ref, description) {
        await this.#note({op: 'annotate', uuid: this.#uuidOf(ref), body: {description}});
    }
    /** Sets the status `deleted`. @param {string} ref */
    async remove(ref) { await this.#note({op: 'delete', uuid: this.#uuidOf(ref)}); }

    /** @param {string} ref */
    #uuidOf(ref) {
        if (uuidForm.test(ref)) return ref.toLowerCase();
        const found = [...this.tasks.values()].find(({key}) => key?.toLowerCase() === String(ref).toLowerCase());
        if (!found) throw new Error(`There is no task ${ref} here.`);
        return found.uuid;
    }

    /** @param {Omit<Entry, 'id' | 'key'>} change */
    async #note(change) {
        this.#last = Math.max(Date.now(), this.#last + 1);  // in order, even if the clock was set back
        const id = `${String(this.#last).padStart(15, '0')}-${randomUUID()}`;
        const entry = JSON.parse(JSON.stringify({id, key: randomUUID(), ...change}));  // the caller keeps its objects
        await this.#storage.write([[`outbox/${id}`, entry]]);
        this.#enqueue(entry);
    }

    /** @param {Entry} entry that is stored */
    #enqueue(entry) {
        this.outbox = [...this.outbox, entry].sort((a, b) => a.id < b.id ? -1 : 1);
        this.#waiting?.abort();
    }

    /** The tasks as the user sees them: the server's, with the noted changes. */
    view() {
        const all = new Map(this.tasks);
        for (const entry of this.outbox) {
            const now = all.get(entry.uuid);
            if (entry.op !== 'create') {
                if (now) all.set(entry.uuid, changedBy(entry, now));
            } else if (!now) {
                all.set(entry.uuid, /** @type {any} */ ({status: 'pending', ...entry.task}));
            }
        }
        return all;
    }

    /** Sends a rejected change again, after `change` has edited it. @param {string} id
     *  @param {(entry: Entry) => void} [change] */
    async retry(id, change = () => {}) {
        const entry = this.rejected.find((each) => each.id === id);
        if (!entry) return;
        const {problem, sent, ...again} = JSON.parse(JSON.stringify(entry));
        change(again);
        again.key = randomUUID();
        this.rejected = this.rejected.filter((each) => each !== entry);
        try {
            await this.#storage.write([[`outbox/${id}`, again], [`rejected/${id}`, undefined]]);
        } catch (error) {
            this.rejected = [...this.rejected, entry];
            throw error;
        }
        this.#enqueue(again);
    }
    /** Forgets a rejected change. @param {string} id */
    async discard(id) {
        await this.#storage.write([[`rejected/${id}`, undefined]]);
        this.rejected = this.rejected.filter((each) => each.id !== id);
    }

    // ---- syncing ----

    /** Sends what was noted and reads all changes. Throws Unavailable if something was left over, and
     *  Problem if the server denies access. @param {{signal?: AbortSignal}} [options] */
    sync({signal} = {}) {
        const once = () => this.#syncOnce(signal);
        const one = this.#syncing.then(once, once);
        this.#syncing = one;
        return one;
    }

    /** @param {AbortSignal | undefined} signal */
    async #syncOnce(signal) {
        const entries = this.outbox;
        const creations = entries.filter(({op}) => op === 'create');
        const made = await this.#sendCreations(creations, signal);
        // Tasks whose next change has to wait, so that changes of a task stay in order.
        const blocked = new Set(creations.filter((each) => this.outbox.includes(each) && !made.has(each))
                                    .map(({uuid}) => uuid));
        /** @type {Unavailable | null} */ let trouble = null;
        if (blocked.size) trouble = new Unavailable('Some tasks were not created yet; they are sent again.');
        for (const entry of entries) {
            if (entry.op === 'create') continue;
            const {uuid, edit} = entry;
            if (blocked.has(uuid) || dependsOn(edit?.set, blocked)) {
                blocked.add(uuid);
                continue;
            }
            try {
                await this.#sendChange(entry, signal);
            } catch (error) {
                // A lasting trouble of one task must not stop the others.
                if (!(error instanceof Unavailable) || !error.isLasting) throw error;
                trouble = error;
                blocked.add(uuid);
            }
        }
        await this.#readFeed(signal);
        await this.#settle(made);  // only now does the storage have their tasks
        if (trouble) throw trouble;
    }

    /** Returns the entries whose tasks exist. @param {Entry[]} entries @param {AbortSignal | undefined} signal */
    async #sendCreations(entries, signal) {
        /** @type {Set<Entry>} */ const made = new Set();
        let waiting = entries;
        for (let attempt = 0; waiting.length && attempt < this.#server.attempts;) {
            // First the tasks that others depend on.
            const uuids = new Set(waiting.map(({uuid}) => uuid));
            const first = waiting.filter(({task, uuid}) => !dependsOn(task, uuids, uuid));
            const ready = new Set(first.length ? first : waiting);
            /** @type {Set<Entry>} */ const again = new Set();
            for (let all = [...ready]; all.length; all = all.slice(batchMax)) {
                for (const each of await this.#sendBatch(all.slice(0, batchMax), made, signal)) again.add(each);
            }
            waiting = waiting.filter((each) => !ready.has(each) || again.has(each));
            if (again.size && waiting.length) await sleep(pauseAfter(attempt++, 0), signal);
        }
        return made;
    }

    /** Returns the entries that have to be sent again. @param {Entry[]} batch @param {Set<Entry>} made
     *  @param {AbortSignal | undefined} signal @returns {Promise<Entry[]>} */
    async #sendBatch(batch, made, signal) {
        const items = batch.map(({key, task}) => ({idempotencyKey: key, task}));
        /** @type {{problem?: any}[]} */ let results;
        try {
            const isOurs = (/** @type {any} */ answer) => answer?.results?.length === items.length;
            ({results} = await this.#server.ask(isOurs, 'POST', '/v1/tasks:batchCreate', {items}, {}, signal));
        } catch (error) {
            if (error instanceof Unavailable && error.isLasting) return [];
            if (!(error instanceof Problem) || isDenied(error)) throw error;
            if (batch.length > 1) {  // too large, or one item is invalid
                const half = batch.length >> 1;
                return [...await this.#sendBatch(batch.slice(0, half), made, signal),
                        ...await this.#sendBatch(batch.slice(half), made, signal)];
            }
            results = [{problem: error.body}];
        }
        const again = [];
        for (const [n, entry] of batch.entries()) {
            const {problem} = results[n];
            if (!problem) {
                made.add(entry);
            } else if (isPassing(problem)) {
                if (isBrief(problem)) again.push(entry);
            } else if (problem.code === 'slot-failed') {  // definite: only now is a new key allowed
                await this.#update(entry, {key: randomUUID()});
                again.push(entry);
            } else {
                await this.#setAside(entry, problem);
            }
        }
        return again;
    }

    /** @param {Entry} entry a change of a task @param {AbortSignal | undefined} signal */
    async #sendChange(entry, signal) {
        try {
            const now = await this.#sendOnce(entry, signal);
            await this.#storage.write([...this.#put(now), [`outbox/${entry.id}`, undefined]]);
            this.outbox = this.outbox.filter((each) => each !== entry);
        } catch (error) {
            if (!(error instanceof Problem) || isDenied(error)) throw error;
            await this.#setAside(entry, error.body);
        }
    }

    /** Returns the task after the change. @param {Entry} entry @param {AbortSignal | undefined} signal
     *  @returns {Promise<Task>} */
    async #sendOnce(entry, signal) {
        const path = `/v1/tasks/${entry.uuid}`;
        const isOurs = (/** @type {any} */ answer) => answer?.uuid === entry.uuid;
        /** @param {string} method @param {string} to @param {any} [body] @param {Record<string, string>} [headers] */
        const ask = (method, to, body, headers) => this.#server.ask(isOurs, method, to, body, headers, signal);
        const fields = {'Idempotency-Key': entry.key};
        if (entry.op === 'delete') return ask('DELETE', path, undefined, fields);
        if (!entry.edit) return ask('POST', `${path}:${entry.op}`, entry.body, fields);
        for (let attempt = 0; attempt < this.#server.attempts; ++attempt) {
            if (!entry.sent) {
                const known = attempt === 0 ? this.tasks.get(entry.uuid) : undefined;
                const task = known ?? await ask('GET', path);
                // Stored first: a key belongs to one body.
                await this.#update(entry, {sent: {etag: task.etag, body: patchOf(entry.edit, task)}});
            }
            try {
                const {etag, body} = /** @type {{etag: string, body: any}} */ (entry.sent);
                return await ask('PATCH', path, body, {...fields, 'If-Match': etag});
            } catch (error) {
                // The task has changed, and this edit was not made before: make it on the task as it
                // is.
                if (!(error instanceof Problem) || error.status !== 412) throw error;
                entry.sent = undefined;
            }
        }
        throw new Unavailable(`${entry.uuid} changes too often; the edit is sent again.`);
    }

    /** @param {Entry} entry @param {Partial<Entry>} changes */
    async #update(entry, changes) {
        await this.#storage.write([[`outbox/${entry.id}`, {...entry, ...changes}]]);
        Object.assign(entry, changes);
    }

    /** Reads to the end of the feed; each page is stored before the next request.
     *  @param {AbortSignal | undefined} signal */
    async #readFeed(signal) {
        if (!this.#cursor) {  // a new storage needs the tasks, not their history
            const {cursor} = await this.#server.ask(isPage, 'GET', '/v1/changes?after=now', undefined, {}, signal);
            await this.#listAgain(cursor, signal);
        }
        while (await this.#readPage('', signal)) { /* goes on */ }
    }

    /** Returns whether there was anything. @param {string} more parameters @param {AbortSignal | undefined} signal */
    async #readPage(more, signal) {
        const path = `/v1/changes?after=${encodeURIComponent(this.#cursor ?? '')}&limit=1000${more}`;
        /** @type {{changes?: Change[], cursor: string}} */ let page;
        try {
            page = await this.#server.ask(isPage, 'GET', path, undefined, {}, signal);
        } catch (error) {
            // The cursor has expired, or the server was restored from a backup.
            if (!(error instanceof Problem) || error.status !== 410) throw error;
            await this.#listAgain(error.body.cursor, signal);
            return true;
        }
        const changes = page.changes ?? [];
        if (!changes.length && page.cursor === this.#cursor) return false;
        await this.#hear(changes, page.cursor);
        return true;
    }

    /** The cursor is older than the list: the feed repeats changes made since.
     *  @param {string} cursor @param {AbortSignal | undefined} signal */
    async #listAgain(cursor, signal) {
        const query = new URLSearchParams({pageSize: '500'});
        for (const status of statuses) query.append('status', status);
        /** @type {Map<string, Task>} */ const tasks = new Map();
        const isOurs = (/** @type {any} */ answer) => Array.isArray(answer?.tasks);
        for (let token = '';;) {
            if (token) query.set('pageToken', token);
            const page = await this.#server.ask(isOurs, 'GET', `/v1/tasks?${query}`, undefined, {}, signal);
            for (const task of page.tasks) tasks.set(task.uuid, task);
            token = page.nextPageToken;
            if (!token) break;
        }
        const before = this.tasks;
        const gone = [...before.keys()].filter((uuid) => !tasks.has(uuid));
        await this.#storage.write([
            ...[...tasks].map(([uuid, task]) => /** @type {[string, any]} */ ([`task/${uuid}`, task])),
            ...gone.map((uuid) => /** @type {[string, any]} */ ([`task/${uuid}`, undefined])),
            ['cursor', cursor]]);
        this.tasks = tasks;
        this.#cursor = cursor;
        const changed = [...tasks.values()].filter(({uuid, etag}) => before.get(uuid)?.etag !== etag);
        this.#tell([...gone.map((uuid) => /** @type {any} */ ({task: {uuid}, purged: true, cursor})),
                    ...changed.map((task) => /** @type {any} */ ({seq: task.seq, task, cursor}))]);
    }

    /** @param {Change[]} changes @param {string} cursor after them */
    async #hear(changes, cursor) {
        /** @type {[string, any][]} */ const writes = [];
        for (const {task, purged} of changes) {
            if (purged) {
                this.tasks.delete(task.uuid);
                writes.push([`task/${task.uuid}`, undefined]);
            } else {
                writes.push(...this.#put(task));
            }
        }
        await this.#storage.write([...writes, ['cursor', cursor]]);
        this.#cursor = cursor;
        this.#tell(changes);
    }

    /** @param {Change[]} changes */
    #tell(changes) {
        /** @type {unknown[]} */ const errors = [];
        for (const change of changes) {
            try {
                this.onchange(change);
            } catch (error) {
                errors.push(error);
            }
        }
        if (errors.length) throw errors[0];
    }

    /** Returns what is to be stored. The response to an edit is ahead of the feed, whose older changes
     *  must not overwrite it. @param {Task} task @returns {[string, any][]} */
    #put(task) {
        const known = this.tasks.get(task.uuid);
        if (known && known.seq > task.seq) return [];
        this.tasks.set(task.uuid, task);
        return [[`task/${task.uuid}`, task]];
    }

    /** @param {Set<Entry>} entries */
    async #settle(entries) {
        await this.#storage.write([...entries].map(({id}) => [`outbox/${id}`, undefined]));
        this.outbox = this.outbox.filter((entry) => !entries.has(entry));
    }

    /** @param {Entry} entry @param {any} problem */
    async #setAside(entry, problem) {
        const kept = {...entry, problem};
        await this.#storage.write([[`rejected/${entry.id}`, kept], [`outbox/${entry.id}`, undefined]]);
        this.outbox = this.outbox.filter((each) => each !== entry);
        this.rejected.push(kept);
    }

    // ---- following ----

    /** Syncs, and goes on with each change as it comes, until `signal`. Throws Problem if the server
     *  denies access, and what onchange() and the storage throw. @param {{signal?: AbortSignal}} [options] */
    async follow({signal} = {}) {
        let failures = 0;
        while (!signal?.aborted) {
            const waiting = this.#waiting = new AbortController();
            const forget = onAbort(signal, () => waiting.abort());
            try {
                await this.sync({signal});
                if (failures) this.onstate(null);
                failures = 0;
                await this.#wait(waiting.signal);
            } catch (error) {
                if (!(error instanceof Unavailable)) throw error;
                if (signal?.aborted) return;
                if (!failures++) this.onstate(error);
                await sleep(pauseAfter(failures, error.retryIn), signal);
            } finally {
                forget();
                this.#waiting = null;
            }
        }
    }

    /** Receives changes until `signal`, which also says that there is something to send.
     *  @param {AbortSignal} signal */
    async #wait(signal) {
        if (this.#silent < silentStreamsMax) {
            await this.#beginWait(signal);
            if (signal.aborted) return;
            this.#silent = await this.#readStream(signal) ? 0 : this.#silent + 1;
            if (this.#silent < silentStreamsMax) return;  // the next sync finds why it ended
        }
        while (!signal.aborted) {
            await this.#beginWait(signal);
            try {
                // Changes may go on at once, and a proxy or a busy server may end a poll early.
                if (await this.#readPage('&wait=50s', signal)) this.#waitedAt = -Infinity;
            } catch (error) {
                if (!(error instanceof Unavailable) || !signal.aborted) throw error;
            }
        }
    }

    /** @param {AbortSignal} signal */
    async #beginWait(signal) {
        await sleep(Math.max(0, this.#waitedAt + waitMin - performance.now()), signal);
        this.#waitedAt = performance.now();
    }

    /** Returns whether an event came: some systems and proxies have no streams.
     *  @param {AbortSignal} signal */
    async #readStream(signal) {
        const ending = new AbortController();
        const end = () => ending.abort();
        const forget = onAbort(signal, end);
        let silence = setTimeout(end, silenceMax), any = false;
        try {
            const events = await this.#openStream(ending.signal);
            while (events) {
                const next = await events.next().catch(() => ({done: true, value: undefined}));
                if (next.done || !next.value) break;  // or the connection was lost
                any = true;
                clearTimeout(silence);
                silence = setTimeout(end, silenceMax);
                const [kind, data] = next.value;
                if (kind === 'end') break;
                if (kind === 'change') await this.#hear([data], data.cursor);
                else if (data.cursor !== this.#cursor) await this.#hear([], data.cursor);
            }
        } finally {
            clearTimeout(silence);
            forget();
            end();
        }
        return any || signal.aborted;
    }

    /** Returns null if there is no stream. @param {AbortSignal} signal */
    async #openStream(signal) {
        const headers = {'Last-Event-ID': this.#cursor ?? '', Accept: 'text/event-stream'};
        try {
            const response = await this.#server.send('GET', '/v1/changes/stream', undefined, headers, signal);
            if (response.status === 503 || response.status === 429) {
                throw new Unavailable(`status ${response.status}`, waitOf(response));
            }
            return response.ok && response.body?.getReader ? eventsOf(response.body) : null;
        } catch (error) {
            if (error instanceof Unavailable) throw error;
            return null;  // the connection was lost
        }
    }
}

/** @param {any} answer */
function isPage(answer) {
    return typeof answer?.cursor === 'string';
}

/** Whether fields of a task name one of `uuids` that it depends on. @param {any} fields
 *  @param {Set<string>} uuids @param {string} [own] */
function dependsOn(fields, uuids, own) {
    return Array.isArray(fields?.depends) &&
        fields.depends.some((/** @type {string} */ each) => each !== own && uuids.has(String(each).toLowerCase()));
}
