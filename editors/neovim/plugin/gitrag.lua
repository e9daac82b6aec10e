-- :Gitrag QUESTION lists what `gitrag search` finds, best first, to choose from; :Gitrag! puts all of it into the
-- quickfix list. With `vim.g.gitrag_lsp = true` set before, `gitrag lsp` is started for every file in a repository.

local program = vim.g.gitrag_command or "gitrag"

local function say(text) vim.notify("gitrag: " .. vim.trim(text), vim.log.levels.WARN) end

local function places(found, root)
  local list = {}
  for _, kind in ipairs({ "adr_matches", "spec_matches", "code_snippets", "issue_matches" }) do
    for _, hit in ipairs(found[kind] or {}) do
      local name = hit.name or hit.title
      local text = string.format("%.2f  %s", hit.score, name and name ~= "" and name or hit.path)
      table.insert(list, { filename = root .. "/" .. hit.path, lnum = hit.line_start or 1, text = text, score = hit.score })
    end
  end
  table.sort(list, function(one, other) return one.score > other.score end)
  for _, each in ipairs(list) do each.score = nil end
  return list
end

local function open(place)
  vim.cmd("edit " .. vim.fn.fnameescape(place.filename))
  pcall(vim.api.nvim_win_set_cursor, 0, { place.lnum, 0 })
end

local function show(list, question, quickfix)
  if quickfix then
    vim.fn.setqflist({}, " ", { title = "gitrag " .. question, items = list })
    return vim.cmd("copen")
  end
  local function line(each) return each.text .. "  " .. vim.fn.fnamemodify(each.filename, ":.") .. ":" .. each.lnum end
  vim.ui.select(list, { prompt = question, format_item = line }, function(chosen) if chosen then open(chosen) end end)
end

vim.api.nvim_create_user_command("Gitrag", function(command)
  local root = vim.fn.systemlist({ "git", "rev-parse", "--show-toplevel" })[1]
  if vim.v.shell_error ~= 0 then return say("this is no git repository") end
  local out, err = {}, {}
  local started, job = pcall(vim.fn.jobstart, { program, "search", "--json", "--no-graph", "--", command.args }, {
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, lines) out = lines end,
    on_stderr = function(_, lines) err = lines end,
    on_exit = function(_, status)
      if status > 1 then return say(table.concat(err, " ")) end
      local list = places(vim.json.decode(table.concat(out, "\n")), root)
      if #list == 0 then return say("nothing found") end
      show(list, command.args, command.bang)
    end,
  })
  if not started or job <= 0 then say(program .. " was not found") end
end, { nargs = "+", bang = true, desc = "Search by meaning" })

vim.lsp.commands["gitrag.callers"] = function(command) -- of a lens
  local at = command.arguments[2]
  vim.api.nvim_win_set_cursor(0, { at.line + 1, at.character })
  vim.lsp.buf.incoming_calls()
end

if vim.g.gitrag_lsp and vim.lsp.enable then -- since 0.11
  vim.lsp.config("gitrag", { cmd = { program, "lsp" }, root_markers = { ".git" } })
  vim.lsp.enable("gitrag")
end
