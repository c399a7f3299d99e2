// The calls of docs/api.md with orval.

import {
    annotateTask, completeTask, createTask, createTasks, getTask, listChanges, listSeries, listTasks, updateTask,
} from './build/generated/orval.js';
import type {Task} from './build/generated/orval.js';

const [, , baseUrl, token] = process.argv;
Object.assign(globalThis, {callsignUrl: baseUrl});
const withToken = (more: Record<string, string> = {}) => ({headers: {Authorization: `Bearer ${token}`, ...more}});

const made = await createTask(
    {description: 'Say its number out loud', uuid: crypto.randomUUID(), tags: ['loud']},
    withToken({'Idempotency-Key': crypto.randomUUID()}));
if (made.status !== 201) throw new Error(String(made.status));
const number: number = made.data.number, ref: string = made.data.key;

const listed = await listTasks({status: ['pending'], tag: ['loud'], pageSize: 10}, withToken());
if (listed.status !== 200) throw new Error(String(listed.status));
const tasks: Task[] = listed.data.tasks;
const found = await getTask(ref, withToken());
if (found.status !== 200) throw new Error(String(found.status));
const condition = {'If-Match': found.data.etag ?? ''};
const edited = await updateTask(
    ref, {project: 'Home', due: null}, withToken({...condition, 'Idempotency-Key': crypto.randomUUID()}));
const stale = await completeTask(ref, withToken(condition));
const code = stale.status === 412 ? stale.data.code : undefined;
const noted = await annotateTask(ref, {description: 'Said it'}, withToken());
const many = await createTasks(
    {items: [{idempotencyKey: crypto.randomUUID(), task: {description: 'Another'}}]}, withToken());
const feed = await listChanges({after: '0', limit: 10}, withToken());
const series = await listSeries(undefined, withToken());
console.log(JSON.stringify([
    number > 0, tasks.length > 0, edited.status === 200 && edited.data.project, code,
    noted.status === 200 && noted.data.annotations?.length, many.status === 200 && many.data.results[0].receipt?.created,
    feed.status === 200 && feed.data.changes.length > 2, series.status === 200 && series.data.series.length,
]));
