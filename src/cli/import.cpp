// `callsign import taskchampion-sync-server FILE`: imports each client's chain in order, then its
// snapshot, through the admin API. What exists already is left alone, so the command can be
// repeated after an interruption or for newer versions. A client whose history differs here is not
// changed; one whose history in the file is incomplete is imported as far as possible. Both are
// reported, and the others are imported.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace callsign::cli {
namespace {

struct import_counts {
    std::int64_t clients = 0;
    std::int64_t versions = 0;
    std::int64_t versions_there = 0;
    std::int64_t snapshots = 0;
    std::int64_t managed = 0;   // clients not imported: the account is managed by now
    std::int64_t rejected = 0;  // clients whose history differs here
    std::int64_t broken = 0;    // clients whose history in the file is incomplete or unreadable
};

// Client IDs are credentials, so the user sees account names.
class importer {
  public:
    importer(session& s, taskchampion_file& file, const import_choice& choice)
        : session_(s), file_(file), choice_(choice) {}

    import_counts run() {
        const auto clients = chosen();
        for (const auto& client : clients) {
            ++counts_.clients;
            const std::string place =
                std::to_string(counts_.clients) + " of " + std::to_string(clients.size());
            import_client(client, place);
        }
        return counts_;
    }

  private:
    std::vector<taskchampion_file::client> chosen() {
        auto clients = file_.clients();
        if (!choice_.client_id.empty()) {
            const auto id = parse_uuid(choice_.client_id);
            std::erase_if(clients, [&](const auto& client) { return !id || client.id != *id; });
            if (clients.empty()) throw failure("the file does not contain this client ID");
        }
        const bool is_named = !choice_.account.empty() || !choice_.prefix.empty();
        if (is_named && clients.size() != 1) {
            throw failure("the file has " + std::to_string(clients.size()) +
                              " clients: --account and --prefix require --client-id",
                          exit_status::not_understood);
        }
        return clients;
    }

    // Created with its name: if that is taken, it is rejected before anything is imported.
    void make_named(const taskchampion_file::client& client) {
        if (choice_.account.empty()) return;
        v1::CreateAccount wanted;
        wanted.set_name(choice_.account);
        wanted.set_prefix(choice_.prefix.empty() ? "TASK" : choice_.prefix);
        wanted.set_mode("opaque");
        wanted.set_client_id(to_string(client.id));
        try {
            session_.ask(verb::post, "/v1/admin/accounts", &wanted);
        } catch (const rejection& no) {
            v1::Problem problem;
            session::read(no.answer(), problem);
            if (problem.code() != "client-id-taken") throw;
        }
    }

    // Renames an existing account, which is named after its client ID and has TASK-1 and so on.
    void give_names(v1::Client& known) {
        if (!choice_.prefix.empty()) {
            v1::Account made;
            session::read(session_.ask(verb::get, account_path(known.account(), "")), made);
            v1::EditSeries edit;
            edit.set_prefix(choice_.prefix);
            session_.ask(verb::patch, account_path(known.account(), "/series/" + made.prefix()),
                         &edit);
        }
        if (!choice_.account.empty() && choice_.account != known.account()) {
            v1::EditAccount edit;
            edit.set_name(choice_.account);
            session_.ask(verb::patch, account_path(known.account(), ""), &edit);
            known.set_account(choice_.account);
        }
    }

    void import_client(const taskchampion_file::client& client, const std::string& place) {
        std::vector<taskchampion_file::link> chain;
        try {
            chain = file_.chain_of(client);
        } catch (const std::runtime_error& broken) {
            ++counts_.broken;
            say("client " + place + ", " + to_string(client.id) + ": " + broken.what());
            return;
        }
        make_named(client);
        auto known = session_.send_for_client<v1::Client>(verb::put, "/v1/admin/client",
                                                          to_string(client.id));
        give_names(known);
        const std::string who = "client " + place + ", account " + known.account();
        if (known.mode() == "managed") {
            ++counts_.managed;
            say(who + ": skipped, since its account is managed here");
            return;
        }
        try {
            import_history(client, chain, known, who);
        } catch (const rejection& no) {
            ++counts_.rejected;
            say(who + ": " + no.what());
        } catch (const failure&) {
            throw;  // an error of the server, for all clients
        } catch (const std::runtime_error& broken) {
            ++counts_.broken;
            say(who + ": " + broken.what());
        }
    }

    void import_history(const taskchampion_file::client& client,
                        const std::vector<taskchampion_file::link>& chain, const v1::Client& known,
                        const std::string& who) {
        const auto begun = first_missing(chain, known);
        counts_.versions_there += begun - chain.begin();
        for (auto at = begun; at != chain.end(); ++at) {
            import_version(client, *at);
            const auto done = at - chain.begin() + 1;
            if (done % 100 == 0 || at + 1 == chain.end()) {
                progress_.show(who + ": version " + std::to_string(done) + " of " +
                               std::to_string(chain.size()));
            }
        }
        if (!client.snapshot) return;
        if (!chain.empty() && !is_on(chain, client.snapshot->version)) {
            throw std::runtime_error(
                "the versions were imported without their snapshot, which is of a version that the "
                "file does not have: new devices can join after the next sync of one that has "
                "synced before");
        }
        import_snapshot(client);
    }

    static bool is_on(const std::vector<taskchampion_file::link>& chain, const uuid& version) {
        return chain.front().parent == version ||
               std::ranges::any_of(chain, [&](const auto& l) { return l.version == version; });
    }

    // Returns where to continue: after the server's last version, if the file has it.
    static std::vector<taskchampion_file::link>::const_iterator first_missing(
        const std::vector<taskchampion_file::link>& chain, const v1::Client& known) {
        const auto last = parse_uuid(known.last_version());
        const auto found = std::find_if(chain.begin(), chain.end(), [&](const auto& link) {
            return last && link.version == *last;
        });
        return found == chain.end() ? chain.begin() : found + 1;
    }

    void import_version(const taskchampion_file::client& client,
                        const taskchampion_file::link& link) {
        const std::string target = "/v1/admin/client/versions/" + to_string(link.version) +
                                   "?parent=" + to_string(link.parent);
        const auto result = session_.send_for_client<v1::ImportResult>(
            verb::post, target, to_string(client.id), file_.segment_of(client, link.version));
        ++(result.imported() ? counts_.versions : counts_.versions_there);
    }

    void import_snapshot(const taskchampion_file::client& client) {
        const auto& snapshot = *client.snapshot;
        const std::string target = "/v1/admin/client/snapshot/" + to_string(snapshot.version) +
                                   "?takenAt=" + to_rfc3339(snapshot.taken_at) +
                                   "&versionsSince=" + std::to_string(snapshot.versions_since);
        const auto result = session_.send_for_client<v1::ImportResult>(
            verb::post, target, to_string(client.id), file_.snapshot_of(client));
        if (result.imported()) ++counts_.snapshots;
    }

    void say(const std::string& sentence) {
        progress_.clear();
        session_.around().err << sentence << '\n';
    }

    session& session_;
    taskchampion_file& file_;
    const import_choice& choice_;
    import_counts counts_;
    progress_line progress_{session_.around()};
};

void show_imported(session& s, const import_counts& counts) {
    print_fields(s.out(), {{"clients", std::to_string(counts.clients)},
                           {"versions imported", std::to_string(counts.versions)},
                           {"versions known", std::to_string(counts.versions_there)},
                           {"snapshots imported", std::to_string(counts.snapshots)}});
    s.out()
        << "Set sync.server.url of the clients to this server: they continue where they were.\n";
}

}  // namespace

void import_taskchampion(session& s, const std::string& name, const import_choice& choice) {
    const auto file = s.around().files.open_taskchampion_file(name);
    const import_counts counts = importer(s, *file, choice).run();
    if (s.json()) {
        s.print_json(boost::json::serialize(
            boost::json::object{{"clients", counts.clients},
                                {"versions", counts.versions},
                                {"versionsThereAlready", counts.versions_there},
                                {"snapshots", counts.snapshots},
                                {"managed", counts.managed},
                                {"rejected", counts.rejected},
                                {"broken", counts.broken}}));
    } else {
        show_imported(s, counts);
    }
    std::string left;
    if (counts.rejected > 0) {
        left = "the history of " + std::to_string(counts.rejected) + " differs from this server's";
    }
    if (counts.broken > 0) {
        left += (left.empty() ? "the history of " : ", that of ") + std::to_string(counts.broken) +
                " is incomplete in the file";
    }
    if (!left.empty()) {
        throw failure("of " + std::to_string(counts.clients) + " clients " + left +
                      "; the others were imported");
    }
}

}  // namespace callsign::cli
